import { beforeEach } from 'vitest'
import { type IssuedKey, issueKey } from '../../../src/auth/issue-key.ts'
import type { KeyRecord, KeyStore, KeyTimestamps } from '../../../src/auth/key-store.ts'

/** A key store in memory, and its records by key id. */
interface MemoryKeyStore {
  stored: Map<string, KeyRecord>
  keys: KeyStore
}

/** The key store of a test, and the keys that it issues. */
export interface EachTestKeyStore extends Readonly<MemoryKeyStore> {
  readonly keyPepper: Uint8Array
  /** Issues a key `ERP` of `acc_1` at {@link ISSUED_AT}, without an expiry by default. */
  issue(changes?: { expiresAt?: number }, key?: string): Promise<IssuedKey>
}

export const ISSUED_AT = Date.parse('2026-03-01T12:00:00Z')

const grant = { accountId: 'acc_1', scopes: ['orders:read'] as const, name: 'ERP', expiresAt: null }

/** Registers the hook that creates an empty key store for each test of the file. */
export function useKeyStore(): EachTestKeyStore {
  const keyPepper = Buffer.alloc(32, 3)
  let store: MemoryKeyStore
  beforeEach(() => {
    store = createMemoryKeyStore()
  })
  return {
    get stored() {
      return store.stored
    },
    get keys() {
      return store.keys
    },
    keyPepper,
    issue(changes = {}, key) {
      const given = key === undefined ? {} : { key }
      return issueKey({ keys: store.keys, keyPepper }, { ...grant, ...changes }, ISSUED_AT, given)
    },
  }
}

function createMemoryKeyStore(): MemoryKeyStore {
  const stored = new Map<string, KeyRecord>()
  const withDigest = (digest: string) =>
    [...stored.values()].find((record) => record.digest === digest)
  const keys: KeyStore = {
    find: async () => null,
    list: async () => [...stored.values()],
    byId: async (keyId) => stored.get(keyId) ?? null,
    wasAnyKeyUsed: async () => false,
    ping: async () => {},
    insert: async (key) => {
      stored.set(key.keyId, key)
    },
    update: async (digest: string, instants: KeyTimestamps) => {
      const key = withDigest(digest)
      if (key !== undefined) stored.set(key.keyId, { ...key, ...instants })
    },
    expire: async (digest: string, endsAt: number) => {
      const key = withDigest(digest)
      if (key === undefined) throw new Error('the key to expire is missing')
      const expiresAt = Math.min(key.expiresAt ?? endsAt, endsAt)
      stored.set(key.keyId, { ...key, expiresAt })
      return expiresAt
    },
    setAccountBlocked: async () => {},
    isAccountBlocked: async () => false,
  }
  return { stored, keys }
}
