import { looksLikeKey } from '../../auth/api-key.ts'
import { inactiveReason } from '../../auth/inactive-reason.ts'
import { type IssuedKey, issueKey } from '../../auth/issue-key.ts'
import type { KeyRecord, KeyStore } from '../../auth/key-store.ts'
import { scopes as knownScopes, type Scope } from '../../auth/key-store.ts'
import type { Clock } from '../../lib/clock.ts'
import { DAY_MS } from '../../lib/durations.ts'
import { newKeyId } from '../../lib/ids.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { ManagementError } from '../management-error.ts'
import type { SessionStore } from '../sessions/session-store.ts'

export interface KeyManagementOptions {
  keys: KeyStore
  keyPepper: Uint8Array
  sessions: Pick<SessionStore, 'removeOf'>
  audit: Pick<AuditLog, 'record'>
  /** Epoch milliseconds. */
  clock: Clock
}

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

/** A key of any account, or of this one alone. */
export interface KeyTarget {
  id: string
  /** Then a key of another account does not exist. */
  accountId?: string
}

/** The management of keys, for commands and for the management API. Calls throw Unavailable. */
export type KeyManagement = ReturnType<typeof createKeyManagement>

/** Longer overlaps would leave a leaked key valid for long. */
export const MAX_KEY_OVERLAP_MS = 30 * DAY_MS
export const MAX_NAME_LENGTH = 100

/** Creates the operations on keys. Each change is in the audit log. */
export function createKeyManagement({
  keys,
  keyPepper,
  sessions,
  audit,
  clock,
}: KeyManagementOptions) {
  /** @throws ManagementError `key_missing` */
  async function find({ id, accountId }: KeyTarget): Promise<KeyRecord> {
    const found = looksLikeKey(id) ? null : await keys.byId(id)
    if (found !== null && (accountId === undefined || accountId === found.accountId)) return found
    throw keyMissing(id)
  }

  return {
    /** @throws ManagementError `invalid_scopes`, `invalid_name`, `invalid_expiry` */
    async create(actor: Actor, { accountId, isTest = false, expires, ...request }: KeyRequest) {
      const nowMs = clock()
      const expiresAt =
        expires === null ? null : 'at' in expires ? expires.at : nowMs + expires.inMs
      if (expiresAt !== null && expiresAt <= nowMs) {
        throw new ManagementError(
          'invalid_expiry',
          'the key would expire at once: choose a later end',
        )
      }
      const scopes = parseScopes(request.scopes)
      const grant = { accountId, isTest, scopes, name: parseName(request.name), expiresAt }
      const keyId = newKeyId()
      const intent = { action: 'key.create', accountId, target: keyId } as const
      return audit.record(actor, intent, () =>
        issueKey({ keys, keyPepper }, grant, nowMs, { keyId }),
      )
    },

    /** All keys of an account, oldest first. */
    list: (accountId: string): Promise<KeyRecord[]> => keys.list(accountId),

    find,

    /**
     * Issues a key with the same grant and lifetime. The old key expires within `overlapMs`.
     * @throws ManagementError `key_missing`, `key_inactive`, `invalid_overlap`
     */
    async roll(
      actor: Actor,
      rolled: KeyTarget,
      overlapMs: number,
    ): Promise<IssuedKey & { old: KeyRecord }> {
      if (!(overlapMs >= 0 && overlapMs <= MAX_KEY_OVERLAP_MS)) {
        const message = `both keys may be valid for 0 to ${MAX_KEY_OVERLAP_MS / DAY_MS} days`
        throw new ManagementError('invalid_overlap', message)
      }
      const nowMs = clock()
      const old = await find(rolled)
      const reason = inactiveReason(old, nowMs)
      if (reason) {
        throw new ManagementError('key_inactive', `${old.keyId} is ${reason}: create a key instead`)
      }
      const grant = { ...old, expiresAt: old.ttlMs === null ? null : nowMs + old.ttlMs }
      const endsAt = Math.min(old.expiresAt ?? Infinity, nowMs + overlapMs)
      const keyId = newKeyId()
      const { accountId, keyId: target } = old
      const intent = { action: 'key.roll', accountId, target, successor: keyId } as const
      return audit.record(actor, intent, async () => {
        const issued = await issueKey({ keys, keyPepper }, grant, nowMs, { keyId })
        const expiresAt = await keys.expire(old.digest, endsAt)
        return { ...issued, old: { ...old, expiresAt } }
      })
    },

    /** Takes effect within 5 seconds. @throws ManagementError `key_missing` */
    async revoke(actor: Actor, target: KeyTarget): Promise<KeyRecord> {
      const key = await find(target)
      if (key.revokedAt !== null) return key
      const revokedAt = clock()
      const intent = { action: 'key.revoke', accountId: key.accountId, target: key.keyId } as const
      return audit.record(actor, intent, async () => {
        await keys.update(key.digest, { revokedAt })
        return { ...key, revokedAt }
      })
    },

    /** Takes effect within 5 seconds. A block also ends the links and sessions of the console. */
    setAccountBlocked(actor: Actor, accountId: string, isBlocked: boolean): Promise<void> {
      const action = isBlocked ? 'account.block' : 'account.unblock'
      const intent = { action, accountId, target: accountId } as const
      return audit.record(actor, intent, async () => {
        await keys.setAccountBlocked(accountId, isBlocked)
        if (isBlocked) await sessions.removeOf(accountId)
      })
    },
  }
}

/** A key in place of its id is not repeated. */
function keyMissing(id: string): ManagementError {
  const problem = looksLikeKey(id) ? 'that is a key, not the id of a key' : `there is no key ${id}`
  return new ManagementError(
    'key_missing',
    `${problem}; the list of the account's keys has their ids`,
  )
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
  if (name.length <= MAX_NAME_LENGTH && !/\p{Cc}/u.test(name)) return name.trim() || null
  throw new ManagementError(
    'invalid_name',
    `a name has at most ${MAX_NAME_LENGTH} characters, without control characters`,
  )
}
