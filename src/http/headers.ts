export const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Returns every value of a header; `name` is in lower case. Node silently keeps only the first of
 * several `Host` or `Authorization` headers, and callers must reject duplicates.
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)
}
