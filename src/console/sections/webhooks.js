import {
  badge,
  button,
  buttonOf,
  empty,
  facts,
  fillPlace,
  moreActions,
  sectionHead,
  testBadge,
  toast,
  toastFailure,
} from '../ui/components.js'
import { openForm, overlapField, showSecret } from '../ui/dialogs.js'
import { h } from '../ui/dom.js'
import { formatAgo } from '../ui/format.js'
import { eventName, webhookNames } from '../ui/names.js'
import { chooseEndpoint } from './deliveries.js'
import { openWebhookForm } from './webhook-form.js'
import { offerReplay, openReplay } from './webhook-replay.js'

const LEAD =
  'Um webhook avisa o seu sistema assim que um pedido muda, por exemplo quando é pago ou reembolsado.'
const TEXTS = {
  warning: 'Copie o segredo agora. Por segurança, ele não será mostrado de novo.',
  next: 'Entregue o segredo a quem cuida do seu sistema: com ele, o sistema confere que o aviso veio mesmo daqui.',
}
const LOST =
  'O webhook já foi cadastrado, mas a resposta com o segredo se perdeu. Por segurança, ele não é mostrado de novo. Na lista, abra “Mais”, toque em “Trocar segredo”, escolha o prazo “Nenhum” e copie o novo.'
const LOST_ROLL =
  'O segredo já foi trocado, mas a resposta com o novo se perdeu. Por segurança, ele não é mostrado de novo. Troque mais uma vez quando puder atualizar o seu sistema em seguida: o segredo que ele usa hoje deixa de valer nessa hora.'
const REASONS = {
  manual: 'Desativado manualmente.',
  failing: 'Desativado porque o endereço falhou por 3 dias seguidos. Corrija-o e ative de novo.',
  gone: 'Desativado porque o endereço respondeu que não existe mais.',
}

/** The section of the webhook endpoints. */
export function webhooksSection(api, { show }) {
  const place = h('div')
  const refresh = () => fillPlace(place, load)
  const pathOf = ({ id }) => `/webhook-endpoints/${encodeURIComponent(id)}`

  async function load() {
    const data = await api.list('/webhook-endpoints')
    if (data.length > 0) return cards(data)
    const text = 'Cadastre o endereço do seu sistema, e ele fica sabendo de cada mudança na hora.'
    return empty('webhooks', 'Nenhum sistema é avisado ainda', text, createButton())
  }

  function cards(endpoints) {
    const names = webhookNames(endpoints, ({ description, url }) =>
      description === null ? url : `${description}, ${url}`,
    )
    return h(
      'ul',
      { class: 'cards' },
      endpoints.map((endpoint, at) => card(endpoint, names[at])),
    )
  }

  function card(endpoint, name) {
    const isEnabled = endpoint.status === 'enabled'
    const change = (action, said) => () =>
      run(() => api.post(`${pathOf(endpoint)}/${action}`), said)
    const cardButton = buttonOf(name)
    return h('li', { class: endpoint.test ? 'card test' : 'card' }, [
      h('div', { class: 'card-top' }, [
        h('h2', {}, endpoint.description ?? new URL(endpoint.url).host),
        badge(stateOf(endpoint)),
        endpoint.test && testBadge(),
      ]),
      h('p', { class: 'url' }, h('code', {}, endpoint.url)),
      endpoint.disabled_reason && h('p', { class: 'note' }, REASONS[endpoint.disabled_reason]),
      endpoint.failing_since &&
        h(
          'p',
          { class: 'note' },
          `Os avisos começaram a falhar ${formatAgo(endpoint.failing_since)}: confira o endereço.`,
        ),
      facts([
        ['Pedidos', endpoint.test ? 'só os de teste' : 'os da loja'],
        ['Avisa sobre', eventsText(endpoint.events)],
        ['Leva', endpoint.payload === 'thin' ? 'só o número do pedido' : 'o pedido inteiro'],
      ]),
      h('div', { class: 'card-actions' }, [
        isEnabled
          ? cardButton('Enviar um teste', () => {
              chooseEndpoint(endpoint)
              return change('test', 'Teste na fila. Veja o resultado em Entregas.')()
            })
          : cardButton('Ativar', () => enable(endpoint, name)),
        cardButton('Ver entregas', () => {
          chooseEndpoint(endpoint)
          show('entregas')
        }),
        moreActions(`Mais ações de ${name}`, [
          cardButton('Editar', () => edit(endpoint, name)),
          cardButton('Trocar segredo', () => rollSecret(endpoint, name)),
          isEnabled &&
            cardButton('Repetir avisos que falharam…', () =>
              openReplay(replayOf(endpoint, name, endpoint.failing_since)),
            ),
          isEnabled && cardButton('Desativar', change('disable', 'Desativado.')),
          cardButton('Remover', () => remove(endpoint, name), 'danger-quiet'),
        ]),
      ]),
    ])
  }

  async function run(change, said) {
    let changed
    try {
      changed = await change()
      toast(said)
    } catch (error) {
      toastFailure(error)
    }
    refresh()
    return changed
  }

  async function enable(endpoint, name) {
    const said = 'Ativado: os avisos guardados serão enviados.'
    const enabled = await run(() => api.post(`${pathOf(endpoint)}/enable`), said)
    if (enabled?.failed_since) offerReplay(replayOf(endpoint, name, enabled.failed_since))
  }

  /** What the form of a replay needs. */
  const replayOf = (endpoint, name, since) => ({
    name,
    since,
    replay: (body, key) => api.post(`${pathOf(endpoint)}/replay`, body, key),
    refresh,
  })

  const createButton = () => button('Cadastrar webhook', create, 'primary')

  function create() {
    openWebhookForm({
      title: 'Cadastrar webhook',
      action: 'Cadastrar',
      refresh,
      async save(body, idempotencyKey) {
        const { secret } = await api.post('/webhook-endpoints', body, idempotencyKey)
        refresh()
        showSecret({ title: 'Webhook cadastrado', secret, ...TEXTS, lost: LOST })
      },
    })
  }

  function edit(endpoint, name) {
    openWebhookForm({
      title: 'Editar webhook',
      intro: name,
      action: 'Salvar',
      current: endpoint,
      refresh,
      async save(body) {
        // The API refuses a change of nothing.
        if (Object.keys(body).length > 0) await api.patch(pathOf(endpoint), body)
        toast('Salvo. Vale em até 5 segundos.')
        refresh()
      },
    })
  }

  function rollSecret(endpoint, name) {
    openForm({
      title: 'Trocar o segredo',
      intro: `Webhook: ${name}. Durante o prazo, cada aviso leva a assinatura dos dois segredos. Se uma troca anterior ainda está no prazo, o segredo de antes dela termina agora.`,
      fields: [overlapField('Prazo do segredo atual', 'Nenhum: ele pode ter vazado')],
      action: 'Trocar segredo',
      refresh,
      async submit(data, idempotencyKey) {
        const body = { overlap_seconds: Number(data.get('overlap')) }
        const path = `${pathOf(endpoint)}/roll-secret`
        const { secret } = await api.post(path, body, idempotencyKey)
        showSecret({ title: 'Segredo novo', secret, ...TEXTS, lost: LOST_ROLL })
      },
    })
  }

  function remove(endpoint, name) {
    openForm({
      title: 'Remover este webhook?',
      intro: `Nada mais será enviado a ${name}. Não dá para desfazer.`,
      action: 'Remover webhook',
      isDanger: true,
      refresh,
      async submit() {
        await api.delete(pathOf(endpoint))
        toast('Webhook removido.')
        refresh()
      },
    })
  }

  refresh()
  return [sectionHead('Webhooks', LEAD, createButton()), place]
}

function stateOf({ status, failing_since: failingSince }) {
  if (status !== 'enabled') return ['Desativado', 'off']
  return failingSince ? ['Com falhas', 'bad'] : ['Ativo', 'good']
}

function eventsText(events) {
  if (events.includes('*')) return 'qualquer mudança'
  const names = events.map(eventName)
  return names.length > 3
    ? `${names.slice(0, 3).join(', ')} e mais ${names.length - 3}`
    : names.join(', ')
}
