import type { KeyRecord, KeyStore, KeyTimestamps } from '../../../src/auth/key-store.ts'

/** A key store in memory, and its records by key id. */
export interface MemoryKeyStore {
  stored: Map<string, KeyRecord>
  keys: KeyStore
}

export function createMemoryKeyStore(): MemoryKeyStore {
  const stored = new Map<string, KeyRecord>()
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
      const key = [...stored.values()].find((record) => record.digest === digest)
      if (key === undefined) return
      const ends = [key.expiresAt, instants.expiresAt].filter((end) => end != null)
      const expiresAt = ends.length === 0 ? null : Math.min(...ends)
      stored.set(key.keyId, { ...key, ...instants, expiresAt })
    },
    setAccountBlocked: async () => {},
    isAccountBlocked: async () => false,
  }
  return { stored, keys }
}
