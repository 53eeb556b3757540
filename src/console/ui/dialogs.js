import { button, focusHeading, toast } from './components.js'
import { h, icon } from './dom.js'

let count = 0

function openDialog(title, content, props) {
  count += 1
  const id = `dialogo-${count}`
  const dialog = h('dialog', { 'aria-labelledby': id, ...props }, [h('h2', { id }, title), content])
  dialog.addEventListener('close', () => {
    dialog.remove()
    // The button that opened the dialog may be gone.
    if (document.activeElement === document.body) focusHeading()
  })
  document.body.append(dialog)
  dialog.showModal()
  return dialog
}

const ONCE = 'Se a mudança já foi feita, confirmar de novo não a repete.'
const UNKNOWN = 'Não sabemos se a mudança foi feita: confira a lista.'
const RUNNING =
  'A mudança ainda está em andamento. Espere alguns segundos e confirme de novo: ela não se repete.'

/**
 * Asks for fields, or only for a confirmation. `submit` receives the form's data and an
 * `Idempotency-Key`; its error is shown in the dialog, which then stays open. `refresh` reads again
 * what a failed call may have changed, or found changed.
 */
export function openForm(options) {
  const { title, intro, fields = [], action, isDanger = false, submit, refresh } = options
  const error = h('p', { class: 'error', role: 'alert' })
  const send = h('button', { type: 'submit', class: isDanger ? 'danger' : 'primary' }, action)
  const cancel = button(options.dismiss ?? 'Cancelar', () => dialog.close())
  const inputs = h('div', { class: 'inputs' }, fields)
  const idempotencyKey = crypto.randomUUID()
  const form = h('form', { onsubmit }, [
    intro && h('p', {}, intro),
    inputs,
    error,
    h('div', { class: 'actions' }, [cancel, send]),
  ])

  async function onsubmit(event) {
    event.preventDefault()
    send.disabled = true
    error.textContent = ''
    try {
      await submit(new FormData(form), idempotencyKey)
      dialog.close()
    } catch (failure) {
      if (failure.status === undefined) throw failure
      onFailure(failure)
    } finally {
      send.disabled = false
    }
  }

  function onFailure(failure) {
    if (failure.status === 401) return dialog.close()
    const isStale = failure.status !== 400
    const message = messageOf(failure)
    if (dialog.open) {
      error.textContent = message
      error.scrollIntoView({ block: 'nearest' })
      if (isStale) dialog.addEventListener('close', refresh, { once: true })
    } else {
      toast(inputs.inert ? UNKNOWN : message)
      if (isStale) refresh()
    }
  }

  function messageOf({ status, message, isRunning }) {
    if (isRunning) return RUNNING
    if (status > 0 && status < 500) return message
    // The key belongs to these data: with other ones, the next attempt would be refused.
    inputs.inert = true
    return `${message} ${ONCE}`
  }

  const dialog = openDialog(title, form)
}

/**
 * Shows a secret once. Only its button closes the dialog, since the secret is then gone. `lost`:
 * what to do when a repeated call returned none.
 */
export function showSecret({ title, secret, warning, next, lost }) {
  if (secret === undefined) return showLost(title, lost)
  const input = h('input', { class: 'secret', readonly: true, value: secret, id: 'segredo' })
  const copy = h('button', { type: 'button', class: 'primary', onclick: onCopy }, [
    icon('copy'),
    'Copiar',
  ])

  const refused = h(
    'p',
    { role: 'alert' },
    'O texto está selecionado: copie com Ctrl+C, ou toque nele e segure para copiar.',
  )

  async function onCopy() {
    input.select()
    try {
      await navigator.clipboard.writeText(secret)
      copy.lastChild.textContent = 'Copiado'
      toast('Copiado.')
    } catch {
      copy.parentElement.after(refused) // A toast would be under the backdrop.
    }
  }

  const content = h('div', {}, [
    h('p', { class: 'warning' }, warning),
    h('label', { for: 'segredo' }, 'Guarde este texto'),
    h('div', { class: 'copying' }, [input, copy]),
    h('p', {}, next),
    h('div', { class: 'actions' }, [button('Já guardei', () => dialog.close())]),
  ])
  const dialog = openDialog(title, content, { closedby: 'none', class: 'showing' })
  const keep = (event) => event.preventDefault()
  dialog.addEventListener('cancel', keep) // For browsers without `closedby`.
  addEventListener('beforeunload', keep)
  dialog.addEventListener('close', () => removeEventListener('beforeunload', keep))
  copy.focus()
}

/** Says that a change was made whose secret was in a response that was lost. */
function showLost(title, lost) {
  const close = button('Entendi', () => dialog.close(), 'primary')
  const content = [h('p', { class: 'warning' }, lost), h('div', { class: 'actions' }, [close])]
  const dialog = openDialog(title, h('div', {}, content))
}

/** Closes every dialog but one that shows a secret, which would be lost. */
export function closeForms() {
  for (const dialog of document.querySelectorAll('dialog:not(.showing)')) dialog.close()
}

/** A labelled field with an optional hint. */
export function field(label, name, control, hint) {
  const id = `campo-${name}`
  control.id = id
  control.setAttribute('name', name)
  if (hint) control.setAttribute('aria-describedby', `${id}-dica`)
  return h('div', { class: 'field' }, [
    h('label', { for: id }, label),
    control,
    hint && h('p', { class: 'hint', id: `${id}-dica` }, hint),
  ])
}

/** The choice between the orders of the shop and the test orders, for which its value is `test`. */
export function sourceField(label, selected = '') {
  const sources = [
    ['', 'os pedidos da loja'],
    ['test', 'só os pedidos de teste'],
  ]
  return field(label, 'source', select(sources, selected))
}

/** The choice of how long a secret stays valid after a roll. `none`: the text for no time. */
export function overlapField(label, none) {
  const overlaps = [
    ['86400', '1 dia'],
    ['604800', '7 dias'],
    ['0', none],
  ]
  return field(label, 'overlap', select(overlaps, '86400'))
}

/** A list of options: `[value, text]`. */
export const select = (options, selected) =>
  h('select', {}, [
    options.map(([value, text]) => h('option', { value, selected: value === selected }, text)),
  ])
