import { hash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { isAccountId } from '../../auth/account-ids.ts'
import type { KeyStore } from '../../auth/key-store.ts'
import { type Clock, monotonicClock } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import { isOneLine } from '../../lib/text/one-line.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { ManagementError } from '../management-error.ts'
import {
  type Capability,
  capabilities as knownCapabilities,
  type SessionGrant,
  type SessionStore,
} from './session-store.ts'

export interface SessionsOptions {
  sessions: SessionStore
  keys: Pick<KeyStore, 'isAccountBlocked'>
  audit: Pick<AuditLog, 'record'>
  /** Epoch milliseconds. */
  clock: Clock
  /** Milliseconds, for the age of what is in memory: the time of the system may be set back. */
  monotonic?: Clock
}

/** What a link starts. */
export interface LinkRequest {
  accountId: string
  subject: string
  capabilities: readonly string[]
  /** The life of the session, seconds. */
  ttlSeconds: number
}

/** A secret that is returned once: only its SHA-256 is stored. */
export interface IssuedSecret {
  /** 43 characters of base64url. */
  secret: string
  /** Epoch milliseconds. */
  expiresAt: number
}

/** A session that is valid now. */
export interface ActiveSession extends SessionGrant {
  /** Epoch milliseconds. */
  expiresAt: number
}

/** The sessions of the console. Calls throw Unavailable. */
export type Sessions = ReturnType<typeof createSessions>

const LINK_MS = MINUTE_MS
export const DEFAULT_TTL_SECONDS = 3_600
export const MIN_TTL_SECONDS = 60
export const MAX_TTL_SECONDS = 43_200
export const MAX_SUBJECT_LENGTH = 100
const SECRET_BYTES = 32
/** How long a session is served from memory, and so the delay until a block takes effect. */
const FRESH_MS = 5_000
const MAX_CACHED = 10_000

/** Creates the operations on links and sessions. A link and the end of a session are audited. */
export function createSessions({
  sessions,
  keys,
  audit,
  clock,
  monotonic = monotonicClock,
}: SessionsOptions) {
  const cache = new LRUCache<string, { session: ActiveSession; readAt: number }>({
    max: MAX_CACHED,
  })
  /** The number of sessions that ended in this process. */
  let ends = 0

  async function load(digest: string): Promise<ActiveSession | null> {
    const session = await sessions.find(digest)
    if (session === null || (await keys.isAccountBlocked(session.accountId))) return null
    const { accountId, subject, capabilities, expiresAt } = session
    return { accountId, subject, capabilities, expiresAt }
  }

  /** The session of this secret; `null` when it ended, or when its account is blocked. */
  async function find(secret: string): Promise<ActiveSession | null> {
    const digest = secretDigestOf(secret)
    const [readAt, endsBefore] = [monotonic(), ends]
    const cached = cache.get(digest)
    const isFresh = cached !== undefined && readAt - cached.readAt < FRESH_MS
    const session = isFresh ? cached.session : await load(digest)
    if (session === null || session.expiresAt <= clock()) {
      cache.delete(digest)
      return null
    }
    // One that ended meanwhile may have been read before.
    if (!isFresh && ends === endsBefore) cache.set(digest, { session, readAt })
    return session
  }

  /** @throws ManagementError `account_blocked` */
  async function assertNotBlocked(accountId: string): Promise<void> {
    if (!(await keys.isAccountBlocked(accountId))) return
    const message = `the account ${accountId} is blocked: unblock it first`
    throw new ManagementError('account_blocked', message)
  }

  return {
    /**
     * Issues the token of a link, which starts one session within `linkMs`.
     * @throws ManagementError `invalid_account`, `invalid_subject`, `invalid_capabilities`,
     *   `invalid_ttl`, `account_blocked`
     */
    async createLink(actor: Actor, request: LinkRequest, linkMs = LINK_MS): Promise<IssuedSecret> {
      const { sessionMs, ...grant } = parseLink(request)
      const { accountId, subject } = grant
      await assertNotBlocked(accountId)
      const secret = newSecret()
      const expiresAt = clock() + linkMs
      const link = { ...grant, digest: secretDigestOf(secret), expiresAt, sessionMs }
      const intent = { action: 'session.create', accountId, target: subject } as const
      return audit.record(actor, intent, async () => {
        await sessions.insertLink(link)
        // After the insert: a block removes the links that it finds.
        await assertNotBlocked(accountId).catch(async (error: unknown) => {
          await sessions.takeLink(link.digest)
          throw error
        })
        return { secret, expiresAt }
      })
    },

    /** Starts the session of a link; `null` for a link that was used, expired or never existed. */
    async exchange(token: string): Promise<IssuedSecret | null> {
      const link = await sessions.takeLink(secretDigestOf(token))
      if (link === null || link.expiresAt <= clock()) return null
      const { accountId, subject, capabilities, sessionMs } = link
      // Always a new secret, so that no session can be chosen before its user arrives.
      const secret = newSecret()
      const digest = secretDigestOf(secret)
      const expiresAt = clock() + sessionMs
      await sessions.insert({ accountId, subject, capabilities, expiresAt, digest })
      // After the insert: a block removes the sessions that it finds.
      if (!(await keys.isAccountBlocked(accountId))) return { secret, expiresAt }
      await sessions.remove(digest)
      return null
    },

    find,

    /** Ends a session: at once in this process, within 5 seconds in every other one. */
    async end(actor: Actor, secret: string): Promise<void> {
      const session = await find(secret)
      if (session === null) return
      const { accountId, subject } = session
      const intent = { action: 'session.end', accountId, target: subject } as const
      await audit.record(actor, intent, () => sessions.remove(secretDigestOf(secret)))
      ends += 1
      cache.delete(secretDigestOf(secret))
    },
  }
}

const newSecret = () => randomBytes(SECRET_BYTES).toString('base64url')

const secretDigestOf = (secret: string) => hash('sha256', secret)

function parseLink({ accountId, subject, capabilities, ttlSeconds }: LinkRequest) {
  if (!isAccountId(accountId)) {
    throw new ManagementError(
      'invalid_account',
      `there is no account "${accountId}": use 1 to 64 letters, digits, "_" or "-"`,
    )
  }
  if (!isOneLine(subject, { minLength: 1, maxLength: MAX_SUBJECT_LENGTH })) {
    throw new ManagementError(
      'invalid_subject',
      `a subject has 1 to ${MAX_SUBJECT_LENGTH} characters, without control characters`,
    )
  }
  const isTtl = Number.isInteger(ttlSeconds)
  if (!isTtl || ttlSeconds < MIN_TTL_SECONDS || ttlSeconds > MAX_TTL_SECONDS) {
    throw new ManagementError(
      'invalid_ttl',
      `a session lasts ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS} seconds`,
    )
  }
  const parts = parseCapabilities(capabilities)
  return { accountId, subject, capabilities: parts, sessionMs: 1_000 * ttlSeconds }
}

function parseCapabilities(names: readonly string[]): Capability[] {
  const unknown = names.find((name) => !knownCapabilities.some((known) => known === name))
  if (names.length > 0 && unknown === undefined) {
    return knownCapabilities.filter((known) => names.includes(known))
  }
  throw new ManagementError(
    'invalid_capabilities',
    `a session needs capabilities: choose from ${knownCapabilities.join(', ')}`,
  )
}
