/**
 * Parses order JSON around a bug of V8 with escaped names (nodejs/node#63785). After an object with
 * the name `\`, `JSON.parse` reads `"` or a line break at the same position as `\` in every later
 * text. Names without a backslash are safe. `json.test.ts` fails once `JSON.parse` is correct.
 */

const QUOTE = 0x22
const COLON = 0x3a
const COMMA = 0x2c
const BACKSLASH = 0x5c
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Parses a JSON text, as `JSON.parse` should.
 * @throws SyntaxError when the text is not JSON
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text) // Throws on invalid JSON, which `read` does not detect.
  return hasEscapedName(text) ? read(text) : value
}

/** Whether a colon follows a string with an escape. Linear in the length of the text. */
function hasEscapedName(text: string): boolean {
  for (let at = text.indexOf('\\'); at >= 0; ) {
    const end = stringEnd(text, at)
    if (text.charCodeAt(afterSpace(text, end + 1)) === COLON) return true
    at = text.indexOf('\\', end)
  }
  return false
}

/** Index of the closing quote; `from` is inside the string, at or before its first backslash. */
function stringEnd(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); ; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1
    while (text.charCodeAt(before) === BACKSLASH) before -= 1
    if ((quote - before) % 2 === 1) return quote // After an even number of backslashes.
  }
}

function afterSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at += 1
  return at
}

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

type Container = unknown[] | Record<string, unknown>

/** Parses a valid text without recursion, because it may nest deeper than the stack. */
function read(text: string): unknown {
  const root: unknown[] = []
  const outer: Container[] = []
  let container: Container = root
  /** The name of the next value in an object. */
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
      const value: unknown = JSON.parse(text.slice(at, end)) // A scalar has no names.
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

/** End index of the token that starts at `at`. */
function tokenEnd(text: string, at: number, code: number): number {
  if (code === QUOTE) return stringEnd(text, at + 1) + 1
  let end = at + 1
  if (isPunctuation(code)) return end
  while (end < text.length && !isPunctuation(text.charCodeAt(end))) end += 1
  return end
}

/** Defines an own property: an assignment to `__proto__` would set the prototype. */
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

/** A pair, one half, or any other escape, which has fewer characters. */
const ESCAPE =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|.)/g
const HALF_LENGTH = '\\ud83d'.length

/**
 * Replaces escaped lone surrogates in a JSON text by U+FFFD. UTF-8 has no other form of them.
 * Linear in the length of the text.
 */
export function replaceLoneSurrogates(json: string): string {
  // Several times as fast as a regular expression, and most texts end here.
  if (!json.includes('\\ud') && !json.includes('\\uD')) return json
  return json.replace(ESCAPE, (found) => (found.length === HALF_LENGTH ? '\\ufffd' : found))
}
