/** Permissions of a key. Both read orders, `orders:read_masked` without personal data. */
export const scopes = ['orders:read', 'orders:read_masked'] as const
export type Scope = (typeof scopes)[number]

/** A stored key. Timestamps are epoch milliseconds, `null` for never. */
export interface KeyRecord {
  keyId: string
  /** HMAC of the key with the pepper: the key itself is never stored. */
  digest: string
  /** The live account, also of a key of its sandbox. */
  accountId: string
  /** Whether it reads the sandbox of the account. */
  isTest: boolean
  scopes: readonly Scope[]
  name: string | null
  /** The last four characters, to distinguish keys in a list. */
  lastFour: string
  createdAt: number
  /** The lifetime at creation in milliseconds, which a rolled key inherits. */
  ttlMs: number | null
  expiresAt: number | null
  revokedAt: number | null
  /** When the key last authenticated; written at most hourly. */
  lastValidAt: number | null
}

/** The fields of a key that {@link KeyStore.update} changes. */
export type KeyTimestamps = Partial<Record<'revokedAt' | 'lastValidAt', number>>

/** A key together with the state of the account that owns it. */
export interface KeyWithAccount {
  key: KeyRecord
  accountBlocked: boolean
}

/** Keys and accounts, in the durable store. A write is visible to every process once it returns. */
export interface KeyStore {
  /**
   * The key with this digest, `null` when there is none. `timeoutMs` can only shorten the store's
   * own deadline.
   */
  find(digest: string, timeoutMs?: number): Promise<KeyWithAccount | null>
  /**
   * Checks the store that {@link find} queries.
   * @throws Unavailable when a lookup would fail now
   */
  ping(): Promise<void>
  /**
   * All keys of the account, oldest first. `refresh`: also one whose insert failed, but stored it.
   */
  list(accountId: string, options?: { refresh?: boolean }): Promise<KeyRecord[]>
  byId(keyId: string): Promise<KeyRecord | null>
  /** Whether any key of any account ever authenticated, revoked keys included. */
  wasAnyKeyUsed(): Promise<boolean>
  insert(key: KeyRecord): Promise<void>
  /** Sets only the given timestamps, which keeps concurrent changes of the others. */
  update(digest: string, timestamps: KeyTimestamps): Promise<void>
  /**
   * Brings the expiry forward to `endsAt`, and never back: of two concurrent rolls, the earlier end
   * counts. Returns the stored expiry, epoch milliseconds.
   */
  expire(digest: string, endsAt: number): Promise<number>
  setAccountBlocked(accountId: string, blocked: boolean): Promise<void>
  /** An unknown account is not blocked. */
  isAccountBlocked(accountId: string): Promise<boolean>
}
