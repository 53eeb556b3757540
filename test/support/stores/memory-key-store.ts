import type { KeyRecord, KeyStore, KeyTimestamps } from '../../../src/auth/key-store.ts'

/** A key store in memory, and its records by key id. */
export interface MemoryKeyStore {
  stored: Map<string, KeyRecord>
  keys: KeyStore
}

export function createMemoryKeyStore(): MemoryKeyStore {
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
