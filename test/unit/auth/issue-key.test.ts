import { describe, expect, it } from 'vitest'
import { isWellFormedKey, keyDigest } from '../../../src/auth/api-key.ts'
import { DAY_MS } from '../../../src/lib/durations.ts'
import { ISSUED_AT, useKeyStore } from '../../support/stores/memory-key-store.ts'

const test = useKeyStore()
const { keyPepper, issue } = test

describe('issueKey', () => {
  it('issues a well-formed key', async () => {
    const { key } = await issue()
    expect(isWellFormedKey(key)).toBe(true)
  })

  it('stores the digest, the last four characters and the grant', async () => {
    const { key, record } = await issue({ expiresAt: ISSUED_AT + DAY_MS })
    expect([...test.stored.values()]).toEqual([record])
    expect(record).toEqual({
      keyId: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      digest: keyDigest(keyPepper, key),
      accountId: 'acc_1',
      isTest: false,
      scopes: ['orders:read'],
      name: 'ERP',
      lastFour: key.slice(-4),
      createdAt: ISSUED_AT,
      ttlMs: DAY_MS,
      expiresAt: ISSUED_AT + DAY_MS,
      revokedAt: null,
      lastValidAt: null,
    })
  })

  it('issueKey never stores the key itself', async () => {
    const { key } = await issue()
    expect(JSON.stringify([...test.stored])).not.toContain(key)
  })

  it('stores the record of a given key', async () => {
    const { key, record } = await issue({}, 'key_live_given')
    expect([key, record.digest]).toEqual(['key_live_given', keyDigest(keyPepper, key)])
  })
})
