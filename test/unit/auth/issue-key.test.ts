import { beforeEach, describe, expect, it } from 'vitest'
import { isWellFormedKey, keyDigest } from '../../../src/auth/api-key.ts'
import { issueKey } from '../../../src/auth/issue-key.ts'
import type { KeyStore } from '../../../src/auth/key-store.ts'
import { createMemoryKeyStore, type MemoryKeyStore } from '../../support/stores/memory-key-store.ts'

const DAY_MS = 86_400_000
const NOW = Date.parse('2026-03-01T12:00:00Z')
const keyPepper = Buffer.alloc(32, 3)
const grant = { accountId: 'acc_1', scopes: ['orders:read'] as const, name: 'ERP', expiresAt: null }

let stored: MemoryKeyStore['stored']
let keys: KeyStore
beforeEach(() => {
  ;({ stored, keys } = createMemoryKeyStore())
})

const issue = (changes: { expiresAt?: number } = {}, key?: string) =>
  issueKey({ keys, keyPepper }, { ...grant, ...changes }, NOW, key === undefined ? {} : { key })

describe('issueKey', () => {
  it('issues a well-formed key', async () => {
    const { key } = await issue()
    expect(isWellFormedKey(key)).toBe(true)
  })

  it('stores the digest, the last four characters and the grant', async () => {
    const { key, record } = await issue({ expiresAt: NOW + DAY_MS })
    expect([...stored.values()]).toEqual([record])
    expect(record).toEqual({
      keyId: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      digest: keyDigest(keyPepper, key),
      accountId: 'acc_1',
      isTest: false,
      scopes: ['orders:read'],
      name: 'ERP',
      lastFour: key.slice(-4),
      createdAt: NOW,
      ttlMs: DAY_MS,
      expiresAt: NOW + DAY_MS,
      revokedAt: null,
      lastValidAt: null,
    })
  })

  it('issueKey never stores the key itself', async () => {
    const { key } = await issue()
    expect(JSON.stringify([...stored])).not.toContain(key)
  })

  it('stores the record of a given key', async () => {
    const { key, record } = await issue({}, 'key_live_given')
    expect([key, record.digest]).toEqual(['key_live_given', keyDigest(keyPepper, key)])
  })
})
