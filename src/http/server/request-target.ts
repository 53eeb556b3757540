const ORIGIN = /^https?:\/\/[^/?#]+/i

/** Whether a target is a path, `*`, or an http URL without a fragment (RFC 9112, 3.2). */
export function isRequestTarget(target: string): boolean {
  if (target.startsWith('/') || target === '*') return true
  return ORIGIN.test(target) && !target.includes('#') && URL.canParse(target)
}

/** Escapes a path that cannot be percent-decoded, so that the router answers 404. */
export function routableUrl(url: string): string {
  const [path = '', ...query] = url.split('?')
  if (!path.includes('%')) return url
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?')
  }
}
