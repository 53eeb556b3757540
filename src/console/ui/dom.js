const SVG = 'http://www.w3.org/2000/svg'

/**
 * Creates an HTML element. A property `onclick` is a listener; `true` sets an attribute without
 * value; absent values and children are omitted. Texts never become markup.
 */
export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children)

/** Creates an SVG element, in the same way. */
export const svg = (tag, props, ...children) =>
  fill(document.createElementNS(SVG, tag), props, children)

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (isAbsent(value)) continue
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  element.append(...children.flat(2).filter((child) => !isAbsent(child)))
  return element
}

const isAbsent = (value) => value === undefined || value === null || value === false

const ICONS = {
  keys: 'M15.5 4a4.5 4.5 0 1 1-3.6 7.2L4 19v1.5h3.5v-2H10V16l2.6-2.6M16.6 7.4h.01',
  webhooks: 'M12 3v3M6 17h12l-1.5-2.2V11a4.5 4.5 0 0 0-9 0v3.8zM10 20.5h4',
  deliveries: 'M3 11.5 21 4l-6.5 16-3.2-6.3z M11.3 13.7 21 4',
  usage: 'M5 20v-6M12 20V5M19 20v-9',
  orders: 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9.5 8.5h5M9.5 12.5h5',
  tests:
    'M9 3h6M10 3v6.5L4.8 18.6A1.6 1.6 0 0 0 6.2 21h11.6a1.6 1.6 0 0 0 1.4-2.4L14 9.5V3M7.6 15h8.8',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
}

/** A line icon, which a text beside it names. */
export const icon = (name) =>
  svg('svg', { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' }, [
    svg('path', { d: ICONS[name] }),
  ])
