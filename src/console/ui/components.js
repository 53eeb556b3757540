import { h, icon } from './dom.js'

/** A short text with a tone: `good`, `bad`, `wait`, `off` or `test`. */
export const badge = ([text, tone]) => h('span', { class: `badge ${tone}` }, text)

/** Marks what belongs to the sandbox. */
export const testBadge = () => badge(['Teste', 'test'])

/**
 * A double click counts once: the second one may reach a button that replaced the first. While a
 * promise of `action` is pending, the button is busy, and further clicks do nothing.
 */
export function button(text, action, kind = '') {
  const element = h('button', { type: 'button', class: kind, onclick }, text)

  async function onclick({ detail }) {
    if (detail > 1 || element.ariaBusy === 'true') return
    const result = action()
    if (!(result instanceof Promise)) return
    element.ariaBusy = 'true'
    try {
      await result
    } finally {
      element.ariaBusy = null
    }
  }

  return element
}

/**
 * `button` for the cards of a list. Its accessible name ends with the object, because other cards
 * have the same buttons.
 */
export const buttonOf = (object) => (text, action, kind) => {
  const element = button(text, action, kind)
  element.ariaLabel = `${text}: ${object}`
  return element
}

/** The heading of a section, what it is for in a sentence, and its main action. */
export const sectionHead = (title, lead, action) =>
  h('div', { class: 'head' }, [
    h('div', {}, [h('h1', { tabindex: '-1' }, title), h('p', { class: 'lead' }, lead)]),
    action,
  ])

/** What a section shows without data, and the next step. */
export const empty = (iconName, title, text, action) =>
  h('div', { class: 'empty' }, [icon(iconName), h('h2', {}, title), h('p', {}, text), action])

/** Facts of a card: `[term, description]`; a pair without description is omitted. */
export const facts = (pairs) =>
  h('dl', { class: 'facts' }, [
    pairs
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([term, value]) => h('div', {}, [h('dt', {}, term), h('dd', {}, value)])),
  ])

/**
 * The cards of a list, with a button for each further page. `page(cursor)` resolves to a page, from
 * the first one for `null`; `none` returns what an empty list shows.
 */
export async function cardPages(page, card, none, cursor = null) {
  const { data, next_cursor: next } = await page(cursor)
  if (data.length === 0 && cursor === null) return none()
  const following = h('div', { class: 'following' })
  const more = button('Carregar mais', () =>
    fillPlace(following, () => cardPages(page, card, none, next), focusCard),
  )
  if (next) following.append(more)
  return [h('ul', { class: 'cards' }, data.map(card)), following]
}

export const loading = () => h('p', { class: 'loading', role: 'status' }, 'Carregando…')

export const problem = (message, retry) =>
  h('div', { class: 'problem', role: 'alert' }, [
    h('p', {}, message),
    retry && button('Tentar de novo', retry),
  ])

/** Actions that are used less often, behind one button. */
export const moreActions = (label, buttons) => {
  // On a phone the bar of the sections would cover what opens at the end of the screen.
  const ontoggle = ({ target }) => target.open && target.scrollIntoView({ block: 'nearest' })
  return h('details', { class: 'more', ontoggle }, [
    h('summary', { class: 'like-button', 'aria-label': label }, [icon('more'), 'Mais']),
    h('div', { class: 'menu' }, buttons),
  ])
}

/** Removes the sentence that is shown. */
export const dismissToast = () => document.getElementById('aviso').replaceChildren()

/** Shows a sentence for some seconds, which screen readers also read. */
export function toast(text) {
  const place = document.getElementById('aviso')
  place.replaceChildren(h('p', {}, text))
  clearTimeout(toast.timer)
  toast.timer = setTimeout(dismissToast, 6_000)
}

/** Shows why a call failed. @throws any other error */
export function toastFailure(error) {
  if (error.status === undefined) throw error
  toast(error.message)
}

/** The latest load of each place, as a promise of its content. */
const latestLoads = new WeakMap()

/**
 * Fills a place with what `load` resolves to, and shows its error as a sentence. A load that ends
 * after a later one has started changes nothing: its data is older. When the focused button is
 * replaced, `focus` keeps the keyboard in the section.
 */
export function fillPlace(place, load, focus = focusHeading) {
  if (place.childElementCount === 0) place.append(loading())
  place.setAttribute('aria-busy', 'true')
  const loaded = load().catch((error) => {
    if (error.status === undefined) reportError(error)
    return problem(messageOf(error), () => fillPlace(place, load, focus))
  })
  latestLoads.set(place, loaded)
  loaded
    .then((content) => {
      if (latestLoads.get(place) !== loaded) return
      const hadFocus = place.contains(document.activeElement)
      place.replaceChildren(...[content].flat())
      place.removeAttribute('aria-busy')
      if (hadFocus) focus(place)
    })
    .catch(reportError)
}

/** The keyboard continues at the heading of the section. */
export const focusHeading = () => document.querySelector('main h1')?.focus({ preventScroll: true })

/** The keyboard continues at the first card in this element, or at the heading of the section. */
function focusCard(element) {
  const heading = element.querySelector('h2')
  if (heading === null) return focusHeading()
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}

/** Replaces a card alone, so that the keyboard continues there. */
export function replaceCard(item, next) {
  item.replaceWith(next)
  focusCard(next)
}

const messageOf = ({ status, message }) =>
  status === undefined ? 'Algo falhou nesta página. Recarregue-a e tente de novo.' : message
