import { headerValues } from '../headers.ts'

/**
 * The prefix binds the cookie to this host: no other host, and no plain http, can set it. Chromium
 * and Firefox accept it over http on the loopback address.
 */
export const SESSION_COOKIE = '__Host-console_session'

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict'

/** The value of `Set-Cookie` that starts a session of this many seconds. */
export function sessionCookie(secret: string, maxAgeSeconds: number): string {
  return `${SESSION_COOKIE}=${secret}; Max-Age=${maxAgeSeconds}; ${ATTRIBUTES}`
}

/** The value of `Set-Cookie` that removes the cookie. */
export const EXPIRED_SESSION_COOKIE = `${SESSION_COOKIE}=; Max-Age=0; ${ATTRIBUTES}`

/** The secret in the cookie of a request; `undefined` unless exactly one is there. */
export function readSessionCookie(rawHeaders: readonly string[]): string | undefined {
  const [secret, ...others] = headerValues(rawHeaders, 'cookie')
    .flatMap((header) => header.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
    .map((pair) => pair.slice(SESSION_COOKIE.length + 1))
  return others.length === 0 ? secret : undefined
}
