const ORIGIN = /^https?:\/\/[^/?#]+/i

/** Whether a target is a path, `*`, or an http URL, without a fragment (RFC 9112, 3.2). */
export function isRequestTarget(target: string): boolean {
  if (target.includes('#')) return false
  if (target.startsWith('/') || target === '*') return true
  return ORIGIN.test(target) && URL.canParse(target)
}

/**
 * Returns the path and query of a target. Escapes a path that cannot be percent-decoded, so that
 * the router returns 404.
 */
export function routableUrl(target: string): string {
  const url = withoutOrigin(target)
  const [path = '', ...query] = url.split('?')
  if (!path.includes('%')) return url
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?')
  }
}

function withoutOrigin(target: string): string {
  if (target.startsWith('/')) return target
  const [origin] = ORIGIN.exec(target) ?? []
  if (origin === undefined) return target
  const url = target.slice(origin.length)
  return url.startsWith('/') ? url : `/${url}`
}
