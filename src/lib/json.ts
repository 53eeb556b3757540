/**
 * Order JSON is parsed here, because V8 confuses names with escapes (nodejs/node#63785): once it has parsed
 * an object with the name `\`, it takes `"` or a line break at the same place for `\` in every later text.
 * Names without a backslash are read right. `json.test.ts` fails once plain `JSON.parse` is right.
 */

const QUOTE = 0x22
const COLON = 0x3a
const COMMA = 0x2c
const BACKSLASH = 0x5c
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * The value of a JSON text, as `JSON.parse` should return it.
 * @throws SyntaxError where the text is no JSON
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text) // Also for its errors, so that only valid JSON is read below.
  return hasEscapedName(text) ? read(text) : value
}

/** Whether a string with an escape is followed by a colon. Linear, from one such string to the next. */
function hasEscapedName(text: string): boolean {
  for (let at = text.indexOf('\\'); at >= 0; ) {
    const end = stringEnd(text, at)
    if (text.charCodeAt(afterSpace(text, end + 1)) === COLON) return true
    at = text.indexOf('\\', end)
  }
  return false
}

/** The place of the quote that ends a string; `from` is inside it, at its first backslash or before. */
function stringEnd(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); ; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1
    while (text.charCodeAt(before) === BACKSLASH) before -= 1
    if ((quote - before) % 2 === 1) return quote // Behind an even number of backslashes.
  }
}

function afterSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at += 1
  return at
}

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

type Container = unknown[] | Record<string, unknown>

/** Reads a valid text without recursion, since a text may nest deeper than the stack. */
function read(text: string): unknown {
  const root: unknown[] = []
  const outer: Container[] = []
  let container: Container = root
  /** The name of the value that comes next in an object. */
  let name: string | undefined

  function put(value: unknown): void {
    if (Array.isArray(container)) container.push(value)
    else if (name !== undefined) define(container, name, value)
    name = undefined
  }

  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at)
    const end = tokenEnd(text, at, code)
    if (code === OPEN_OBJECT || code === OPEN_LIST) {
      const inner: Container = code === OPEN_OBJECT ? {} : []
      put(inner)
      outer.push(container)
      container = inner
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      container = outer.pop() ?? root
    } else if (!isSeparator(code)) {
      const value: unknown = JSON.parse(text.slice(at, end)) // A string, a number, a literal: no name is in it.
      const isName = typeof value === 'string' && name === undefined && !Array.isArray(container)
      if (isName) name = value
      else put(value)
    }
    at = end
  }
  return root[0]
}

const isSeparator = (code: number) => code === COMMA || code === COLON || isSpace(code)
const isPunctuation = (code: number) =>
  isSeparator(code) ||
  code === OPEN_OBJECT ||
  code === CLOSE_OBJECT ||
  code === OPEN_LIST ||
  code === CLOSE_LIST

/** Where the token ends that begins with this character. */
function tokenEnd(text: string, at: number, code: number): number {
  if (code === QUOTE) return stringEnd(text, at + 1) + 1
  let end = at + 1
  if (isPunctuation(code)) return end
  while (end < text.length && !isPunctuation(text.charCodeAt(end))) end += 1
  return end
}

/** As an own property: an assignment to `__proto__` would set the prototype. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    })
  } else object[name] = value
}
