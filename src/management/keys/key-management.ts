import { looksLikeKey } from '../../auth/api-key.ts'
import { inactiveReason } from '../../auth/inactive-reason.ts'
import type { KeyRecord, KeyStore } from '../../auth/key-store.ts'
import type { Clock } from '../../lib/clock.ts'
import { DAY_MS } from '../../lib/durations.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { ManagementError } from '../management-error.ts'
import type { SessionStore } from '../sessions/session-store.ts'
import { type KeyRequest, parseGrant } from './key-grant.ts'
import { createKeyMaker, type MadeKey, type MakeKeyOptions } from './key-maker.ts'

export interface KeyManagementOptions {
  keys: KeyStore
  keyPepper: Uint8Array
  sessions: Pick<SessionStore, 'removeOf'>
  audit: Pick<AuditLog, 'record'>
  /** Epoch milliseconds. */
  clock: Clock
}

/** A key of any account, or of this one alone. */
export interface KeyTarget {
  id: string
  /** Then a key of another account does not exist. */
  accountId?: string
}

/** The management of keys, for commands and for the management API. Calls throw Unavailable. */
export type KeyManagement = ReturnType<typeof createKeyManagement>

/** Active ones of an account, and of its sandbox, in a session of its owner. */
export const MAX_OWN_KEYS = 100
/** Longer overlaps would leave a leaked key valid for long. */
export const MAX_KEY_OVERLAP_MS = 30 * DAY_MS

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

  const { make } = createKeyMaker({ keys, keyPepper, clock })

  return {
    /**
     * @throws ManagementError `invalid_scopes`, `invalid_name`, `invalid_expiry`, `too_many_keys`
     */
    async create(
      actor: Actor,
      request: KeyRequest,
      options: MakeKeyOptions = {},
    ): Promise<MadeKey> {
      const nowMs = clock()
      const grant = parseGrant(request, nowMs)
      const { accountId } = grant
      return make(grant, { ...options, nowMs }, ({ keyId, issue }) => {
        const intent = { action: 'key.create', accountId, target: keyId } as const
        return audit.record(actor, intent, issue)
      })
    },

    /** All keys of an account, oldest first. */
    list: (accountId: string): Promise<KeyRecord[]> => keys.list(accountId),

    find,

    /**
     * Issues a key with the same grant and lifetime. The old key expires within `overlapMs`.
     * @throws ManagementError `key_missing`, `key_inactive`, `invalid_overlap`, `too_many_keys`
     */
    async roll(
      actor: Actor,
      rolled: KeyTarget,
      overlapMs: number,
      options: MakeKeyOptions = {},
    ): Promise<MadeKey & { old: KeyRecord }> {
      if (!(overlapMs >= 0 && overlapMs <= MAX_KEY_OVERLAP_MS)) {
        const message = `the overlap is not valid: expected 0 to ${MAX_KEY_OVERLAP_MS / DAY_MS} days`
        throw new ManagementError('invalid_overlap', message)
      }
      const nowMs = clock()
      const old = await find(rolled)
      const { accountId, keyId: target } = old
      const grant = { ...old, expiresAt: old.ttlMs === null ? null : nowMs + old.ttlMs }
      const replaced = overlapMs === 0 ? target : undefined
      return make(grant, { ...options, nowMs, replaced }, async ({ keyId, made, issue }) => {
        const reason = inactiveReason(old, nowMs)
        if (reason && made === undefined) {
          throw new ManagementError('key_inactive', `${target} is ${reason}: create a key instead`)
        }
        const rolledAt = made?.createdAt ?? nowMs
        const endsAt = Math.min(old.expiresAt ?? Infinity, rolledAt + overlapMs)
        const intent = { action: 'key.roll', accountId, target, successor: keyId } as const
        return audit.record(actor, intent, async () => {
          const issued = await issue()
          const expiresAt = await keys.expire(old.digest, endsAt)
          return { ...issued, old: { ...old, expiresAt } }
        })
      })
    },

    /** Takes effect within 5 seconds. @throws ManagementError `key_missing` */
    async revoke(actor: Actor, target: KeyTarget): Promise<KeyRecord> {
      const key = await find(target)
      if (key.revokedAt !== null) {
        // A node may show a revocation that no other node has, and that is lost with it.
        await keys.update(key.digest, { revokedAt: key.revokedAt })
        return key
      }
      const revokedAt = clock()
      const intent = { action: 'key.revoke', accountId: key.accountId, target: key.keyId } as const
      return audit.record(actor, intent, async () => {
        await keys.update(key.digest, { revokedAt })
        return { ...key, revokedAt }
      })
    },

    /** Whether an account is blocked, so that its keys are rejected. */
    isAccountBlocked: (accountId: string): Promise<boolean> => keys.isAccountBlocked(accountId),

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
