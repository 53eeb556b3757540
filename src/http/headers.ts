export const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Returns every value of a header; `name` is in lower case. Node silently keeps only the first of
 * several `Host` or `Authorization` headers, and callers must reject duplicates.
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)
}

/**
 * The credential of the only `Authorization` header, of the scheme `Bearer` in upper or lower case,
 * with exactly one space. `undefined` for anything else.
 */
export function bearerCredential(rawHeaders: readonly string[]): string | undefined {
  const [header = '', ...others] = headerValues(rawHeaders, 'authorization')
  return others.length > 0 ? undefined : /^bearer ([^\s]+)$/i.exec(header)?.[1]
}

/** A token of HTTP (RFC 9110, 5.6.2). */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`
/** Quoted commas do not separate list elements. An unclosed quote extends to the end. */
const ELEMENTS = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g
// No two runs of spaces are adjacent, so matching time is linear in the header's length.
const PREFERENCE = new RegExp(
  `^[ \\t]*(${TOKEN})[ \\t]*(?:=[ \\t]*(?:(${TOKEN}|${QUOTED})[ \\t]*)?)?(?:;|$)`,
)

/**
 * Whether `Prefer` requests `handling=strict` (RFC 7240, 2 and 4.4). The first `handling` counts.
 * Unknown or malformed preferences and parameters of a preference are ignored.
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

const ZERO_QUALITY = /^q=0(\.0*)?$/

/**
 * Whether a client accepts gzip (RFC 9110, 12.5.3). Without the header it accepts any coding, but
 * such clients do not decompress.
 */
export function acceptsGzip(acceptEncoding = ''): boolean {
  const accepted = acceptedValues(acceptEncoding)
  return accepted.get('gzip') ?? accepted.get('*') ?? false
}

/** Whether a client, such as a browser, names HTML among the types that it accepts. */
export function acceptsHtml(accept = ''): boolean {
  return acceptedValues(accept).get('text/html') ?? false
}

/** Each value of an `Accept` header, and whether its quality is not zero. */
function acceptedValues(header: string): Map<string, boolean> {
  const accepted = new Map<string, boolean>()
  for (const element of header.toLowerCase().split(',')) {
    const [value = '', ...params] = element.split(';').map((part) => part.trim())
    accepted.set(value, !params.some((param) => ZERO_QUALITY.test(param)))
  }
  return accepted
}
