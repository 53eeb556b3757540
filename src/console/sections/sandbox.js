import { call } from '../api.js'
import {
  badge,
  button,
  buttonOf,
  cardPages,
  empty,
  facts,
  fillPlace,
  replaceCard,
  sectionHead,
  toast,
} from '../ui/components.js'
import { field, openForm, select } from '../ui/dialogs.js'
import { h } from '../ui/dom.js'
import { formatAgo } from '../ui/format.js'
import { moveName, ORDER_STATUSES, paymentStatusName } from '../ui/names.js'
import { isActiveKey, NEW_TEST_KEY } from './keys.js'

const LEAD =
  'Crie um pedido fictício e mude a situação dele, para ver o que o seu sistema faz em cada caso. Nada é cobrado, e ele nunca se mistura com os pedidos da loja.'
const NONE = 'Crie o primeiro. Depois pague e reembolse, e veja o que o seu sistema faz.'
const NO_KEY = 'Falta um passo: o seu sistema só lê estes pedidos com uma chave de teste.'
const SOON = 'O seu sistema vê a mudança em alguns segundos.'
const MOVED_ELSEWHERE =
  'Este pedido já tinha mudado em outro lugar. A lista mostra como ele está agora.'

/** The section of the test orders. */
export function sandboxSection(api, { show, session: { capabilities } }) {
  const place = h('div')
  const refresh = () => fillPlace(place, load)
  /** Scenario → its title; empty until the first response. */
  let titles = new Map()

  async function load() {
    const { data } = await call('GET', '/v1/sandbox-scenarios')
    titles = new Map(data.map(({ id, description }) => [id, description]))
    const cards = await cardPages(page, card, () => null)
    return cards === null ? none() : [...(await keyStep()), ...cards]
  }

  function page(cursor) {
    const query = new URLSearchParams({ limit: '20', ...(cursor && { cursor }) })
    return api.get(`/sandbox-orders?${query}`)
  }

  const none = () => empty('tests', 'Nenhum pedido de teste ainda', NONE, createButton())

  /** What is missing until a system reads the orders; nothing once there is a test key. */
  async function keyStep() {
    if (!capabilities.includes('keys')) return []
    const keys = await api.list('/keys')
    if (keys.some((key) => key.test && isActiveKey(key))) return []
    const create = button('Criar chave de teste', () => show('chaves', NEW_TEST_KEY))
    return [h('div', { class: 'next-step' }, [h('p', {}, NO_KEY), create])]
  }

  function card(order) {
    const error = h('p', { class: 'error', role: 'alert' })
    const name = `Pedido …${endOf(order)}`
    const cardButton = buttonOf(name)
    const item = h('li', { class: 'card test' }, [
      h('div', { class: 'card-top' }, [h('h2', {}, name), badge(stateOf(order))]),
      h('p', { class: 'url' }, h('code', {}, order.id)),
      facts([
        ['Começou como', titles.get(order.scenario) ?? order.scenario],
        ['Último pagamento', paymentStatusName(order.payment_status)],
        ['Criado', formatAgo(order.created_at)],
      ]),
      error,
      order.moves.length > 0 &&
        h(
          'div',
          { class: 'card-actions' },
          order.moves.map((move) =>
            move === 'erase'
              ? cardButton('Apagar', () => confirmErase(order, item), 'danger-quiet')
              : cardButton(moveName(move, order.status), () => run(move)),
          ),
        ),
    ])

    async function run(move) {
      if (item.ariaBusy === 'true') return
      item.ariaBusy = 'true'
      error.textContent = ''
      try {
        await change(order, move, item)
      } catch (failure) {
        if (failure.status === undefined) throw failure
        error.textContent = failure.message
      } finally {
        item.ariaBusy = null
      }
    }

    return item
  }

  async function change(order, move, item, idempotencyKey) {
    try {
      const path = `/sandbox-orders/${encodeURIComponent(order.id)}/${move}`
      const moved = await api.post(path, {}, idempotencyKey)
      replaceCard(item, card(moved))
      toast(`Pedido …${endOf(moved)}: ${stateOf(moved)[0].toLowerCase()}. ${SOON}`)
    } catch (error) {
      if (error.status !== 409 || error.isRunning) throw error
      toast(MOVED_ELSEWHERE)
      refresh()
    }
  }

  function confirmErase(order, item) {
    openForm({
      title: `Apagar este pedido de teste?`,
      intro: `O seu sistema deixa de ver o pedido …${endOf(order)}. Não dá para desfazer.`,
      action: 'Apagar pedido',
      isDanger: true,
      refresh,
      submit: (_data, idempotencyKey) => change(order, 'erase', item, idempotencyKey),
    })
  }

  const createButton = () => button('Criar pedido de teste', create, 'primary')

  function create() {
    if (titles.size === 0) return refresh()
    openForm({
      title: 'Criar pedido de teste',
      fields: [
        field(
          'Ele começa como',
          'scenario',
          select([...titles]),
          'Depois, os botões do pedido mudam a situação dele.',
        ),
      ],
      action: 'Criar pedido',
      refresh,
      async submit(data, idempotencyKey) {
        const body = { scenario: data.get('scenario') }
        const order = await api.post('/sandbox-orders', body, idempotencyKey)
        toast(`Pedido …${endOf(order)} criado. O seu sistema o vê em alguns segundos.`)
        refresh()
      },
    })
  }

  refresh()
  return [sectionHead('Testes', LEAD, createButton()), place]
}

/** The last characters of its id, which tell it from the others. */
const endOf = ({ id }) => id.slice(-4)

const stateOf = ({ erased, status }) =>
  erased ? ['Apagado', 'off'] : (ORDER_STATUSES[status] ?? [status, 'off'])
