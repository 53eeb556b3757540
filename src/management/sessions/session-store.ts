export const capabilities = ['keys', 'webhooks', 'usage', 'orders'] as const
/** A section of the console. */
export type Capability = (typeof capabilities)[number]

/** What a session of the console may do, for one account. */
export interface SessionGrant {
  accountId: string
  /** The user, as the platform names it. */
  subject: string
  capabilities: readonly Capability[]
}

/** A grant behind a secret, of which only the SHA-256 is stored. */
export interface StoredSession extends SessionGrant {
  /** 64 hexadecimal digits. */
  digest: string
  /** Epoch milliseconds. */
  expiresAt: number
}

/** A link that starts one session. */
export interface StoredLink extends StoredSession {
  /** The life of its session, milliseconds. */
  sessionMs: number
}

/** Links and sessions in the durable store. Calls throw Unavailable. */
export interface SessionStore {
  insertLink(link: StoredLink): Promise<void>
  /**
   * Removes a link and returns it. Of concurrent calls, one returns it; the others return `null`.
   */
  takeLink(digest: string): Promise<StoredLink | null>
  insert(session: StoredSession): Promise<void>
  find(digest: string): Promise<StoredSession | null>
  remove(digest: string): Promise<void>
  /** Removes the links and sessions of an account that were inserted before. */
  removeOf(accountId: string): Promise<void>
  /** Removes links and sessions that ended before this instant. */
  purge(beforeMs: number): Promise<void>
}
