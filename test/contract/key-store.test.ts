import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keyRecord } from '../support/stores/key-record.ts'
import { type StoresUnderTest, useStores } from './stores-under-test.ts'

describe.each(useStores())('the key store on %s', (_name, open) => {
  let store: StoresUnderTest
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  it.each([
    ['everything', keyRecord({ name: 'ERP', ttlMs: 5_000, expiresAt: 6_000 })],
    ['no optional field', keyRecord({ scopes: [] })],
    ['the sandbox', keyRecord({ isTest: true })],
  ])('returns each key as it was stored, with %s', async (_what, key) => {
    await store.keys.insert(key)
    expect(await store.keys.find('d1')).toEqual({ key, accountBlocked: false })
    expect(await store.keys.byId('key_1')).toEqual(key)
    expect(await store.keys.list('acc_1')).toEqual([key])
  })

  it('returns null for a missing key and an empty list for an account without keys', async () => {
    expect(await store.keys.find('d1')).toBeNull()
    expect(await store.keys.byId('key_1')).toBeNull()
    expect(await store.keys.list('acc_1')).toEqual([])
    await store.keys.ping()
  })

  it('lists the keys of one account only, oldest first', async () => {
    await store.keys.insert(keyRecord({ keyId: 'key_2', digest: 'd2', createdAt: 2_000 }))
    await store.keys.insert(keyRecord({ keyId: 'key_3', digest: 'd3', accountId: 'acc_2' }))
    await store.keys.insert(keyRecord())
    for (const refresh of [false, true]) {
      const listed = await store.keys.list('acc_1', { refresh })
      expect(listed.map(({ keyId }) => keyId)).toEqual(['key_1', 'key_2'])
    }
  })

  it('updates some timestamps and keeps the others', async () => {
    await store.keys.insert(keyRecord())
    await store.keys.update('d1', { lastValidAt: 3_000 })
    await store.keys.update('d1', { revokedAt: 4_000 })
    expect(await store.keys.byId('key_1')).toEqual(
      keyRecord({ lastValidAt: 3_000, revokedAt: 4_000 }),
    )
  })

  it('keeps and returns the earliest expiry, in whatever order the calls arrive', async () => {
    await store.keys.insert(keyRecord({ lastValidAt: 3_000 }))
    expect(await store.keys.expire('d1', 5_000)).toBe(5_000)
    expect(await store.keys.expire('d1', 9_000)).toBe(5_000)
    expect(await store.keys.byId('key_1')).toEqual(
      keyRecord({ expiresAt: 5_000, lastValidAt: 3_000 }),
    )
    const expiries = [4_000, 2_000, 6_000].map((endsAt) => store.keys.expire('d1', endsAt))
    await Promise.all([...expiries, store.keys.update('d1', { revokedAt: 4_000 })])
    expect(await store.keys.byId('key_1')).toEqual(
      keyRecord({ expiresAt: 2_000, lastValidAt: 3_000, revokedAt: 4_000 }),
    )
  })

  it('rejects an expiry of a missing key', async () => {
    await expect(store.keys.expire('d1', 5_000)).rejects.toThrow('missing')
  })

  it('returns whether the account is blocked, also when it was blocked before its first key', async () => {
    await store.keys.setAccountBlocked('acc_1', true)
    await store.keys.insert(keyRecord())
    expect((await store.keys.find('d1'))?.accountBlocked).toBe(true)
    expect(await store.keys.isAccountBlocked('acc_1')).toBe(true)
    await store.keys.setAccountBlocked('acc_1', false)
    expect((await store.keys.find('d1'))?.accountBlocked).toBe(false)
    expect(await store.keys.isAccountBlocked('acc_1')).toBe(false)
    expect(await store.keys.isAccountBlocked('acc_unknown')).toBe(false)
  })

  it('reports at once that any key was used, even if that key was changed since', async () => {
    expect(await store.keys.wasAnyKeyUsed()).toBe(false)
    await store.keys.insert(keyRecord())
    await store.keys.insert(keyRecord({ keyId: 'key_2', digest: 'd2', accountId: 'acc_2' }))
    await store.keys.expire('d1', 2_000)
    expect(await store.keys.wasAnyKeyUsed()).toBe(false)
    await store.keys.update('d2', { lastValidAt: 3_000 })
    expect(await store.keys.wasAnyKeyUsed()).toBe(true)
    await store.keys.update('d2', { revokedAt: 4_000 })
    expect(await store.keys.wasAnyKeyUsed()).toBe(true)
  })

  it('rejects a second key with the same digest', async () => {
    await store.keys.insert(keyRecord())
    await expect(store.keys.insert(keyRecord({ keyId: 'key_2' }))).rejects.toThrow()
    expect(await store.keys.byId('key_1')).toEqual(keyRecord())
  })
})
