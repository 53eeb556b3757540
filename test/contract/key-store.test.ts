import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KeyRecord } from '../../src/auth/key-store.ts'
import { type KeyStoreUnderTest, keyStores } from './stores.ts'

const record = (changes: Partial<KeyRecord> = {}): KeyRecord => ({
  keyId: 'key_1',
  digest: 'd1',
  accountId: 'acc_1',
  scopes: ['orders:read'],
  name: 'ERP',
  lastFour: 'wxyz',
  createdAt: 1_000,
  lifeMs: 5_000,
  expiresAt: 6_000,
  revokedAt: null,
  lastValidAt: null,
  ...changes,
})

describe.each(keyStores)('keys in %s', (_name, open) => {
  let store: KeyStoreUnderTest
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  it.each([
    ['everything', record()],
    [
      'nothing that may be absent',
      record({ scopes: [], name: null, lifeMs: null, expiresAt: null }),
    ],
  ])('come back as they were put in, with %s', async (_what, key) => {
    await store.keys.insert(key)
    expect(await store.keys.find('d1')).toEqual({ key, accountBlocked: false })
    expect(await store.keys.byId('key_1')).toEqual(key)
    expect(await store.keys.list('acc_1')).toEqual([key])
  })

  it('that are not there are null, and a list of none is empty', async () => {
    expect(await store.keys.find('d1')).toBeNull()
    expect(await store.keys.byId('key_1')).toBeNull()
    expect(await store.keys.list('acc_1')).toEqual([])
  })

  it('are listed for their account alone, oldest first', async () => {
    await store.keys.insert(record({ keyId: 'key_2', digest: 'd2', createdAt: 2_000 }))
    await store.keys.insert(record({ keyId: 'key_3', digest: 'd3', accountId: 'acc_2' }))
    await store.keys.insert(record())
    expect((await store.keys.list('acc_1')).map(({ keyId }) => keyId)).toEqual(['key_1', 'key_2'])
  })

  it('take an update of some instants and keep the others', async () => {
    await store.keys.insert(record())
    await store.keys.update('d1', { lastValidAt: 3_000 })
    await store.keys.update('d1', { revokedAt: 4_000 })
    expect(await store.keys.byId('key_1')).toEqual(record({ lastValidAt: 3_000, revokedAt: 4_000 }))
  })

  it('tell whether their account is blocked, also one blocked before it had a key', async () => {
    await store.keys.setAccountBlocked('acc_1', true)
    await store.keys.insert(record())
    expect((await store.keys.find('d1'))?.accountBlocked).toBe(true)
    await store.keys.setAccountBlocked('acc_1', false)
    expect((await store.keys.find('d1'))?.accountBlocked).toBe(false)
  })

  it('refuse a second key of the same digest', async () => {
    await store.keys.insert(record())
    await expect(store.keys.insert(record({ keyId: 'key_2' }))).rejects.toThrow()
    expect(await store.keys.byId('key_1')).toEqual(record())
  })
})
