import { inactiveReason } from '../../auth/inactive-reason.ts'
import { issueKey, type KeyGrant } from '../../auth/issue-key.ts'
import { derivedKeyIdPrefix, newKeyId } from '../../auth/key-id.ts'
import type { KeyRecord, KeyStore } from '../../auth/key-store.ts'
import { createKeyedMutex } from '../../lib/async/keyed-lock.ts'
import type { Clock } from '../../lib/clock.ts'
import { IDEMPOTENCY_KEY_TTL_MS } from '../idempotency/idempotency.ts'
import { ManagementError } from '../management-error.ts'

export interface KeyMakerOptions {
  keys: KeyStore
  keyPepper: Uint8Array
  /** Epoch milliseconds. */
  clock: Clock
}

export interface MakeKeyOptions {
  /** That of the `Idempotency-Key`: its repetition returns the key that it stored. */
  requestId?: string | undefined
  /**
   * The account then has no more active keys than this, and its sandbox as many; absent: no limit.
   * Concurrent calls to several processes may exceed it by one key each.
   */
  atMost?: number | undefined
}

/** A new key and its record. */
export interface MadeKey {
  /** `null` for a repetition: the key was stored before an error, and only its digest is. */
  key: string | null
  record: KeyRecord
}

/** The key that a request makes. */
export interface PlacedKey {
  keyId: string
  /** The record that the same request stored before an error, while it is active. */
  made: KeyRecord | undefined
  /** Stores the key, unless it is stored already. */
  issue(): Promise<MadeKey>
}

/** Makes keys for the management of keys. */
export interface KeyMaker {
  /**
   * Runs `work` with the key that it may issue. `nowMs`: its creation, epoch milliseconds.
   * `replaced`: a key that ends at once. While it is active, the limit does not apply.
   * @throws ManagementError `too_many_keys`; Unavailable; the errors of `work`
   */
  make<T>(
    grant: KeyGrant,
    options: MakeKeyOptions & { nowMs: number; replaced?: string | undefined },
    work: (placed: PlacedKey) => Promise<T>,
  ): Promise<T>
}

/** Creates a maker over a store. */
export function createKeyMaker({ keys, keyPepper, clock }: KeyMakerOptions): KeyMaker {
  /** Concurrent calls would each count the keys before all of them. */
  const oneAtATime = createKeyedMutex()

  /** The key that a request stored before an error, while it is active. */
  function findMade(stored: readonly KeyRecord[], prefix: string): KeyRecord | undefined {
    const nowMs = clock()
    return stored.find(
      (key) =>
        key.keyId.startsWith(prefix) &&
        key.createdAt >= nowMs - IDEMPOTENCY_KEY_TTL_MS &&
        inactiveReason(key, nowMs) === undefined,
    )
  }

  function assertBelow(
    limit: number,
    { accountId, isTest = false }: KeyGrant,
    stored: readonly KeyRecord[],
    replaced: string | undefined,
  ): void {
    const nowMs = clock()
    const active = stored.filter(
      (key) => key.isTest === isTest && inactiveReason(key, nowMs) === undefined,
    )
    // The successor of a key that ends at once adds none, also where there are more than the limit.
    if (active.length < limit || active.some(({ keyId }) => keyId === replaced)) return
    throw new ManagementError(
      'too_many_keys',
      `${accountId} has ${limit} active keys, the most that its owner may have: revoke one, and create again`,
    )
  }

  return {
    make(grant, { nowMs, requestId, atMost, replaced }, work) {
      const { accountId } = grant
      // An id begins as its request decides. The rest is random: also when a failed write is stored
      // late, two keys never share one.
      const prefix = requestId === undefined ? undefined : derivedKeyIdPrefix(requestId)
      const run = async () => {
        const needsList = prefix !== undefined || atMost !== undefined
        const stored = needsList ? await keys.list(accountId, { refresh: true }) : []
        const made = prefix === undefined ? undefined : findMade(stored, prefix)
        if (made !== undefined) {
          const issue = async () => {
            // A node may show a key that no other node has.
            await keys.update(made.digest, {})
            return { key: null, record: made }
          }
          return work({ keyId: made.keyId, made, issue })
        }
        if (atMost !== undefined) assertBelow(atMost, grant, stored, replaced)
        const keyId = newKeyId(prefix)
        const issue = () => issueKey({ keys, keyPepper }, grant, nowMs, { keyId })
        return work({ keyId, made, issue })
      }
      return atMost === undefined ? run() : oneAtATime(accountId, run)
    },
  }
}
