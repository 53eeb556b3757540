import { CallError } from '../api.js'
import { field, openForm, select, sourceField } from '../ui/dialogs.js'
import { h } from '../ui/dom.js'
import { EVENT_NAMES } from '../ui/names.js'

const URL_HINT = 'Quem cuida do seu sistema informa este endereço. Ele começa com https://'
const NO_EVENT = 'Em “Avisar quando”, escolha ao menos um caso.'
const PAYLOADS = [
  ['full', 'O pedido inteiro'],
  ['thin', 'Só o número do pedido, sem dados do comprador'],
]

/**
 * Asks for the settings of an endpoint, new or `current`; `save` receives the body of the call,
 * with what differs from `current`, and its `Idempotency-Key`.
 */
export function openWebhookForm({ title, intro, action, current, refresh, save }) {
  const url = h('input', {
    type: 'url',
    required: true,
    placeholder: 'https://',
    autocomplete: 'off',
    value: current?.url,
  })
  const description = h('input', {
    maxlength: '500',
    autocomplete: 'off',
    value: current?.description,
  })
  openForm({
    title,
    intro,
    fields: [
      field('Endereço que recebe os avisos (URL)', 'url', url, URL_HINT),
      current === undefined && sourceField('Avisar sobre'),
      eventFields(current?.events ?? ['*']),
      field('Cada aviso leva', 'payload', select(PAYLOADS, current?.payload ?? 'full')),
      field('Descrição (opcional)', 'description', description, 'Por exemplo “ERP da loja”.'),
    ],
    action,
    refresh,
    submit(data, idempotencyKey) {
      const events = data.get('which') === 'all' ? ['*'] : data.getAll('events')
      if (events.length === 0) throw new CallError(NO_EVENT, 400)
      const body = {
        url: data.get('url').trim(),
        events,
        payload: data.get('payload'),
        ...(data.get('source') === 'test' && { test: true }),
        description: data.get('description'), // An empty one removes that of `current`.
      }
      return save(current ? changesOf(current, body) : body, idempotencyKey)
    },
  })
}

/** Only these: the others may have been changed in another tab meanwhile. */
function changesOf(current, body) {
  const textOf = (value) => (Array.isArray(value) ? value.toSorted().join() : (value ?? ''))
  const changed = Object.entries(body).filter(
    ([name, value]) => textOf(value) !== textOf(current[name]),
  )
  return Object.fromEntries(changed)
}

function eventFields(events) {
  const isAll = events.includes('*')
  const list = h('div', { class: 'events', hidden: isAll }, [
    Object.entries(EVENT_NAMES).map(([type, name]) =>
      option('checkbox', 'events', type, name, events.includes(type)),
    ),
  ])
  const onchange = (event) => {
    list.hidden = event.target.value === 'all'
  }
  return h('fieldset', {}, [
    h('legend', {}, 'Avisar quando'),
    h('div', { onchange }, [
      option('radio', 'which', 'all', 'qualquer coisa mudar num pedido', isAll),
      option('radio', 'which', 'some', 'só nos casos que eu escolher', !isAll),
    ]),
    list,
  ])
}

const option = (type, name, value, text, checked) =>
  h('label', { class: 'option' }, [h('input', { type, name, value, checked }), text])
