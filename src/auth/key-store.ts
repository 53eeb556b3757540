/** What a key may do; `orders:read` opens both routes. */
export const scopes = ['orders:read'] as const
export type Scope = (typeof scopes)[number]

/** A key as it is stored. Instants are epoch milliseconds, `null` for never. */
export interface KeyRecord {
  keyId: string
  /** HMAC of the key under the pepper: the key itself is stored nowhere. */
  digest: string
  accountId: string
  scopes: readonly Scope[]
  name: string | null
  /** The last four characters, to tell keys apart in a list. */
  lastFour: string
  createdAt: number
  /** How long it was to live when it was made, in milliseconds: what a successor gets too. */
  ttlMs: number | null
  expiresAt: number | null
  revokedAt: number | null
  /** When the key last authenticated; written at most hourly. */
  lastValidAt: number | null
}

/** What can change about a key. */
export type KeyTimestamps = Partial<Record<'expiresAt' | 'revokedAt' | 'lastValidAt', number>>

/** A key together with the state of the account that owns it. */
export interface KeyWithAccount {
  key: KeyRecord
  accountBlocked: boolean
}

/** Keys and accounts, in the durable store. A write is visible to every process once it returns. */
export interface KeyStore {
  /** The key of this digest, `null` when there is none; within `withinMs` where the store's own deadline is longer. */
  find(digest: string, timeoutMs?: number): Promise<KeyWithAccount | null>
  /**
   * Looks where {@link find} looks.
   * @throws Unavailable when a key could not be found now
   */
  ping(): Promise<void>
  /** All keys of the account, oldest first. */
  list(accountId: string): Promise<KeyRecord[]>
  byId(keyId: string): Promise<KeyRecord | null>
  /** Whether any key ever authenticated, of whatever account, also one that is revoked. */
  wasAnyKeyUsed(): Promise<boolean>
  /** Adds a key. */
  insert(key: KeyRecord): Promise<void>
  /** Sets just these instants of a key, so that concurrent changes of others are kept. */
  update(digest: string, timestamps: KeyTimestamps): Promise<void>
  setAccountBlocked(accountId: string, blocked: boolean): Promise<void>
}
