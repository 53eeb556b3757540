import type { KeyGrant } from '../../auth/issue-key.ts'
import { scopes as knownScopes, type Scope } from '../../auth/key-store.ts'
import { isOneLine } from '../../lib/text/one-line.ts'
import { ManagementError } from '../management-error.ts'

/** What a new key may do. */
export interface KeyRequest {
  accountId: string
  /** A key of the account's sandbox; a live key when absent. */
  isTest?: boolean
  scopes: readonly string[]
  name: string | null
  /** Epoch milliseconds, or milliseconds from now; `null` for a key that does not expire. */
  expires: { at: number } | { inMs: number } | null
}

export const MAX_NAME_LENGTH = 100

/** @throws ManagementError `invalid_scopes`, `invalid_name`, `invalid_expiry` */
export function parseGrant(
  { accountId, isTest = false, expires, ...request }: KeyRequest,
  nowMs: number,
): KeyGrant {
  const expiresAt = expires && ('at' in expires ? expires.at : nowMs + expires.inMs)
  if (expiresAt !== null && expiresAt <= nowMs) {
    throw new ManagementError('invalid_expiry', 'the key would expire at once: choose a later end')
  }
  const scopes = parseScopes(request.scopes)
  return { accountId, isTest, scopes, name: parseName(request.name), expiresAt }
}

function parseScopes(names: readonly string[]): Scope[] {
  const parsed = names.map((name) => {
    const scope = knownScopes.find((known) => known === name)
    if (scope !== undefined) return scope
    const known = knownScopes.join(', ')
    throw new ManagementError('invalid_scopes', `there is no scope "${name}": choose from ${known}`)
  })
  if (parsed.length < 2) return parsed
  throw new ManagementError(
    'invalid_scopes',
    'a key reads orders with personal data or without: choose one of orders:read and orders:read_masked',
  )
}

/** A name without outer spaces; a blank one is none. */
function parseName(name: string | null): string | null {
  if (name === null) return null
  if (isOneLine(name, { maxLength: MAX_NAME_LENGTH })) return name.trim() || null
  throw new ManagementError(
    'invalid_name',
    `a name has at most ${MAX_NAME_LENGTH} characters, without control characters`,
  )
}
