import ipaddr from 'ipaddr.js'
import type { NamedSecrets } from '../lib/secrets/named-secret.ts'
import { REPLACEMENT } from '../lib/text/control-characters.ts'

// Each parser returns `undefined` for a text that is not valid.

const MIN_SECRET_BYTES = 32
const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?'
const NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`)
/** URL parsers read a name with such an end as an IPv4 address. */
const NUMERIC_END = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i

/**
 * A path. A space at an end is a slip, and would silently name another file or folder. So would a
 * byte that is not UTF-8, which Node replaces. So do quotes, which an `--env-file` of Docker keeps.
 */
export const path = (value: string) =>
  value === value.trim() && !QUOTED.test(value) && !value.includes(REPLACEMENT) ? value : undefined

const QUOTED = /^(["']).*\1$/

export const PATH_HELP =
  'expected a path in UTF-8, without quotes around it or spaces at its ends; correct it, or leave it empty for the default'

/** A full IP address without brackets, or a host name, without protocol and port. */
export const host = (value: string) => (isHost(value) ? value : undefined)

function isHost(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)) return true
  return NAME.test(text) && !NUMERIC_END.test(text)
}

/** A decimal integer of at most nine digits, between `from` and `to` inclusive. */
export const integer = (from: number, to: number) => (value: string) => {
  const parsed = /^\d{1,9}$/.test(value) ? Number(value) : -1
  return parsed >= from && parsed <= to ? parsed : undefined
}

/** Comma-separated URLs of one protocol, with distinct hosts. */
export const urls = (protocols: readonly string[]) => (value: string) => {
  const parts = value.split(',')
  const nodes = parts.map((part) => URL.parse(part.trim())).filter((url) => url !== null)
  const isKnown = nodes.every((url) => protocols.includes(url.protocol) && isAddress(url))
  const isSame = new Set(nodes.map(({ protocol }) => protocol)).size === 1
  const isDistinct = new Set(nodes.map(({ host }) => host)).size === parts.length
  // Redis Cluster has no numbered databases.
  const isClusterSafe = nodes.length === 1 || !nodes.some(isNumberedDatabase)
  return isKnown && isSame && isDistinct && isClusterSafe
    ? nodes.map(({ href }) => href)
    : undefined
}

/** Requires a host, and complete credentials. Only Redis accepts a password without a user. */
function isAddress(url: URL): boolean {
  const { protocol, hostname, pathname, username, password } = url
  const isRedis = protocol.startsWith('redis')
  // Clients read options from the query and fail later on bad ones. Redis over IPv6 needs `family`.
  const isPlain = url.search === '' || (isRedis && /^\?family=[046]$/.test(url.search))
  if (!isPlain || url.hash !== '' || url.port === '0') return false
  const hasCompleteCredentials = username === '' ? isRedis || password === '' : password !== ''
  // The path of a Redis URL is the database number.
  if (hostname === '' || !hasCompleteCredentials || (isRedis && !/^(\/\d{0,4})?$/.test(pathname)))
    return false
  try {
    decodeURIComponent(username + password)
    return true
  } catch {
    return false
  }
}

const isNumberedDatabase = ({ protocol, pathname }: URL) =>
  protocol.startsWith('redis') && /[1-9]/.test(pathname)

/** A text that matches `pattern`. */
export const matching = (pattern: RegExp) => (value: string) =>
  pattern.test(value) ? value : undefined

/** One of a closed list of values. */
export const oneOf =
  <T extends string>(values: readonly T[]) =>
  (value: string) =>
    values.find((known) => known === value)

/** Base64 of at least 32 bytes. */
export function parseSecret(value: string): Buffer | undefined {
  const bytes = Buffer.from(value, 'base64')
  const isBase64 = bytes.toString('base64').replace(/=+$/, '') === value.replace(/=+$/, '')
  return isBase64 && bytes.length >= MIN_SECRET_BYTES ? bytes : undefined
}

/** A list `kid:base64,kid:base64` with at least one entry and distinct kids. */
export function parseNamedSecrets(value: string): NamedSecrets | undefined {
  const pairs = value.split(',').map((pair) => {
    const [, kid = '', base64 = ''] = /^([A-Za-z0-9_-]{1,16}):(.+)$/.exec(pair.trim()) ?? []
    return { kid, secret: parseSecret(base64) }
  })
  const usable = pairs.flatMap(({ kid, secret }) => (secret ? [{ kid, secret }] : []))
  const distinct = new Set(usable.map(({ kid }) => kid)).size === pairs.length
  const [first, ...others] = usable
  return first && distinct ? [first, ...others] : undefined
}

/** Comma-separated integers between `from` and `to` inclusive, at least one and at most `max`. */
export const integers = (from: number, to: number, max: number) => (value: string) => {
  const numbers = value.split(',').map((part) => integer(from, to)(part.trim()))
  const valid = numbers.filter((number) => number !== undefined)
  return valid.length === numbers.length && valid.length <= max ? valid : undefined
}

/** The URL of an HTTP proxy: protocol, host, port and optional credentials. */
export const proxyUrl = (value: string) => {
  const [url, ...others] = urls(['http:', 'https:'])(value) ?? []
  return url !== undefined && others.length === 0 && new URL(url).pathname === '/' ? url : undefined
}

/** An http or https URL without credentials and fragment. */
export const webUrl = (value: string) => {
  const url = URL.parse(value)
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.port === '0') return
  return url.username === '' && url.password === '' && url.hash === '' ? url.href : undefined
}

const tokenRoles = ['admin', 'read'] as const
/** `read` may only read. */
export type TokenRole = (typeof tokenRoles)[number]

/** A bearer token of the management API, known by its digest. */
export interface ManagementToken {
  name: string
  role: TokenRole
  /** SHA-256 of the token, 32 bytes. */
  digest: Uint8Array
}

/** A list `name:role:sha256,name:role:sha256` with distinct names and digests. */
export function parseManagementTokens(value: string): ManagementToken[] | undefined {
  const parts = value.split(',').map((part) => part.trim())
  const tokens = parts.flatMap((part) => {
    const [, name = '', role, hex = ''] = TOKEN.exec(part) ?? []
    const knownRole = tokenRoles.find((known) => known === role)
    return knownRole ? [{ name, role: knownRole, digest: Buffer.from(hex, 'hex') }] : []
  })
  const names = new Set(tokens.map(({ name }) => name))
  const digests = new Set(tokens.map(({ digest }) => digest.toString('hex')))
  const isValid = [tokens.length, names.size, digests.size].every((size) => size === parts.length)
  return isValid ? tokens : undefined
}

const TOKEN = /^([A-Za-z0-9_-]{1,64}):([a-z]+):([0-9a-f]{64})$/

/** The origin of a website: protocol, host and port. */
export const webOrigin = (value: string) => {
  const url = URL.parse(value)
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.port === '0') return
  const isOrigin = [url.username, url.password, url.search, url.hash].every((part) => part === '')
  return isOrigin && url.pathname === '/' ? url.origin : undefined
}
