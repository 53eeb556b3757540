/** Everything comes from the page's own origin, and neither scripts nor styles are inline. */
const PAGE_DIRECTIVES = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]

/** The `Content-Security-Policy` of a page, with what it restricts beyond the common directives. */
export function contentSecurityPolicy(...further: readonly string[]): string {
  return [...PAGE_DIRECTIVES, ...further].join('; ')
}
