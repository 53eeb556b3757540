export const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Every value that came under a name, given in lower case. Node keeps the first of several `Host` or
 * `Authorization` headers in silence; two of them are one too many.
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)
}
