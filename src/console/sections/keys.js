import { serverNow } from '../api.js'
import {
  badge,
  button,
  buttonOf,
  empty,
  facts,
  fillPlace,
  sectionHead,
  testBadge,
  toast,
} from '../ui/components.js'
import { field, openForm, overlapField, select, showSecret, sourceField } from '../ui/dialogs.js'
import { h } from '../ui/dom.js'
import { formatAgo, formatDate, formatMoment } from '../ui/format.js'

const LEAD =
  'Uma chave deixa outro sistema, como o seu ERP ou emissor de notas, ler os pedidos da sua conta. Ela não muda nem apaga nada.'
const ONCE = 'Copie a chave agora. Por segurança, ela não será mostrada de novo.'
const NEXT =
  'Cole a chave no sistema que vai ler os seus pedidos. Trate-a como uma senha: quem tem a chave vê os pedidos.'
const NEXT_TEST =
  'Cole a chave no sistema que você vai testar e volte a Testes. Ela lê só os pedidos criados ali, nunca os da loja.'
const LIVES = [
  ['', 'Sem prazo'],
  ['2592000', '30 dias'],
  ['7776000', '90 dias'],
  ['31536000', '1 ano'],
]
const MASKED = 'orders:read_masked'
const PERSONAL = [
  ['', 'Todos'],
  ['masked', 'Ocultos: para relatórios e BI'],
]

/** The argument that opens the form for a test key at once. */
export const NEW_TEST_KEY = 'new-test-key'

/** The section of the keys. `argument`: `NEW_TEST_KEY` or none. */
export function keysSection(api, { argument }) {
  const place = h('div')
  const refresh = () => fillPlace(place, load)

  async function load() {
    const data = await api.list('/keys')
    if (data.length === 0) {
      const text = 'Crie a primeira e cole-a no sistema que vai ler os seus pedidos.'
      return empty('keys', 'Você ainda não tem chaves', text, createButton())
    }
    const [active, ended] = [data.filter(isActiveKey), data.filter((key) => !isActiveKey(key))]
    const old = ended.length > 0 && [
      h('details', { class: 'ended' }, [
        h('summary', {}, `Chaves que não valem mais (${ended.length})`),
        h('ul', { class: 'cards' }, ended.toReversed().map(card)),
      ]),
    ]
    return [
      active.some((key) => !key.test) ? false : h('p', { class: 'note' }, noLiveKey(active)),
      h('ul', { class: 'cards' }, active.toReversed().map(card)),
      old,
    ]
      .flat()
      .filter(Boolean)
  }

  function card(key) {
    const name = key.name ?? 'Chave sem nome'
    const usable = isActiveKey(key)
    const fullName = `${name}, …${key.last_four}`
    const cardButton = buttonOf(fullName)
    return h('li', { class: key.test ? 'card test' : 'card' }, [
      h('div', { class: 'card-top' }, [
        h('h2', {}, name),
        badge(
          usable ? ['Ativa', 'good'] : key.revoked_at ? ['Revogada', 'off'] : ['Expirada', 'off'],
        ),
        key.test && testBadge(),
      ]),
      facts([
        ['Lê', readsOf(key)],
        ['Termina em', h('code', {}, `…${key.last_four}`)],
        ['Último uso', key.last_used_at ? formatAgo(key.last_used_at) : 'nunca usada'],
        ['Criada', formatDate(key.created_at)],
        [usable ? 'Vale até' : 'Valeu até', endOf(key)],
      ]),
      usable &&
        h('div', { class: 'card-actions' }, [
          cardButton('Trocar', () => roll(key, fullName)),
          cardButton('Revogar', () => revoke(key, fullName), 'danger-quiet'),
        ]),
    ])
  }

  const createButton = () => button('Criar chave', () => create(), 'primary')

  function create(source) {
    const name = h('input', {
      required: true,
      pattern: '.*\\S.*',
      title: 'Escreva um nome, não só espaços.',
      maxlength: '100',
      autocomplete: 'off',
    })
    openForm({
      title: 'Criar chave',
      fields: [
        field('Nome', 'name', name, 'Onde ela será usada, por exemplo “ERP” ou “Planilha”.'),
        sourceField('Ela lê', source),
        field('Dados do comprador', 'personal', select(PERSONAL, '')),
        field('Validade', 'life', select(LIVES, '')),
      ],
      action: 'Criar chave',
      refresh,
      async submit(data, idempotencyKey) {
        const seconds = Number(data.get('life'))
        const body = {
          name: data.get('name').trim(),
          ...(data.get('source') === 'test' && { test: true }),
          ...(data.get('personal') === 'masked' && { scopes: [MASKED] }),
          ...(seconds > 0 && { expires_in_seconds: seconds }),
        }
        const created = await api.post('/keys', body, idempotencyKey)
        refresh()
        showKey(created.test ? 'Chave de teste criada' : 'Chave criada', created)
      },
    })
  }

  function roll(key, name) {
    openForm({
      title: `Trocar a chave “${name}”`,
      intro:
        'Você recebe uma chave nova. Escolha por quanto tempo a atual ainda vale, para trocar uma pela outra com calma.',
      fields: [overlapField('Prazo da chave atual', 'Nenhum: ela pode ter vazado')],
      action: 'Trocar chave',
      refresh,
      async submit(data, idempotencyKey) {
        const body = { overlap_seconds: Number(data.get('overlap')) }
        const path = `/keys/${encodeURIComponent(key.id)}/roll`
        const created = await api.post(path, body, idempotencyKey)
        refresh()
        showKey('Chave nova', created)
      },
    })
  }

  function revoke(key, name) {
    const orders = key.test ? 'os pedidos de teste' : 'os seus pedidos'
    openForm({
      title: `Revogar a chave “${name}”?`,
      intro: `O sistema que usa esta chave deixa de ler ${orders} em até 5 segundos. Não dá para desfazer.`,
      action: 'Revogar chave',
      isDanger: true,
      refresh,
      async submit(_data, idempotencyKey) {
        await api.post(`/keys/${encodeURIComponent(key.id)}/revoke`, {}, idempotencyKey)
        toast(`A chave “${name}” não vale mais.`)
        refresh()
      },
    })
  }

  refresh()
  if (argument === NEW_TEST_KEY) create('test')
  return [sectionHead('Chaves', LEAD, createButton()), place]
}

function showKey(title, { key, test, name, last_four: end }) {
  const lost = `A chave “${name ?? 'sem nome'}”, …${end}, já foi criada, mas a resposta com ela se perdeu. Por segurança, ela não é mostrada de novo. Na lista, toque em “Trocar” nessa chave, escolha o prazo “Nenhum” e copie a nova.`
  showSecret({ title, secret: key, warning: ONCE, next: test ? NEXT_TEST : NEXT, lost })
}

function noLiveKey(active) {
  return active.length === 0
    ? 'Nenhuma chave vale agora: nenhum sistema lê os seus pedidos. Crie uma chave.'
    : 'Você só tem chaves de teste. Quando os testes terminarem, crie uma chave que lê os pedidos da loja.'
}

function readsOf({ test, scopes }) {
  if (scopes.length === 0) return 'nenhum pedido; só confere a conta'
  const orders = test ? 'só os pedidos de teste' : 'os pedidos da loja'
  return scopes.includes(MASKED) ? `${orders}, sem dados pessoais` : orders
}

/** Whether a key is valid now. */
export const isActiveKey = (key) =>
  key.revoked_at === null && (key.expires_at === null || Date.parse(key.expires_at) > serverNow())

function endOf(key) {
  if (key.revoked_at !== null) return formatMoment(key.revoked_at)
  return key.expires_at === null ? 'sem prazo' : formatMoment(key.expires_at)
}
