/** A token of HTTP (RFC 9110, 5.6.2). */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`
/** A comma within quotes parts nothing. Quotes that are never closed hold all that follows. */
const ELEMENTS = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g
// No two runs of spaces meet in it, so that it takes no longer than the header is long.
const PREFERENCE = new RegExp(
  `^[ \\t]*(${TOKEN})[ \\t]*(?:=[ \\t]*(${TOKEN}|${QUOTED})?[ \\t]*)?(?:;|$)`,
)

/**
 * Whether `Prefer` asks for `handling=strict` (RFC 7240, 2 and 4.4). The first of several counts; what is no
 * preference, or one that nobody here knows, is passed over, and so are parameters of a preference.
 */
export function prefersStrict(header: string | readonly string[] | undefined): boolean {
  if (header === undefined) return false
  for (const element of [header].flat().join(',').match(ELEMENTS) ?? []) {
    const [, name = '', value = ''] = PREFERENCE.exec(element) ?? []
    if (name.toLowerCase() === 'handling') return unquoted(value).toLowerCase() === 'strict'
  }
  return false
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value
}
