import { describe, expect, it } from 'vitest'
import { inactiveReason } from '../../../../src/auth/inactive-reason.ts'
import type { KeyRecord } from '../../../../src/auth/key-store.ts'
import { DAY_MS, HOUR_MS } from '../../../../src/lib/durations.ts'
import { CLI_ACTOR } from '../../../../src/management/audit/audit-entry.ts'
import { createKeyManagement } from '../../../../src/management/keys/key-management.ts'
import { ISSUED_AT as NOW, useKeyStore } from '../../../support/stores/memory-key-store.ts'

const test = useKeyStore()
const { keyPepper, issue } = test

function roll(old: KeyRecord, overlapMs: number, now: number) {
  test.stored.set(old.keyId, old)
  const audit = {
    record: <T>(_actor: unknown, _intent: unknown, change: () => Promise<T>) => change(),
  }
  const sessions = { removeOf: async () => {} }
  const { keys } = test
  const management = createKeyManagement({ keys, keyPepper, sessions, audit, clock: () => now })
  return management.roll(CLI_ACTOR, { id: old.keyId }, overlapMs)
}

describe('a roll', () => {
  it('issues a different key with the same grant', async () => {
    const old = await issue()
    const { key, record } = await roll(old.record, DAY_MS, NOW + HOUR_MS)
    expect(key).not.toBe(old.key)
    expect(record).toMatchObject({ accountId: 'acc_1', scopes: ['orders:read'], name: 'ERP' })
    expect(record.createdAt).toBe(NOW + HOUR_MS)
  })

  it('gives the new key a new id, without last use and revocation', async () => {
    const old = await issue()
    const used = { ...old.record, lastValidAt: NOW }
    const { record } = await roll(used, DAY_MS, NOW)
    expect(record.keyId).not.toBe(old.record.keyId)
    expect([record.lastValidAt, record.revokedAt]).toEqual([null, null])
  })

  it('keeps the old key valid for the overlap', async () => {
    const { record } = await issue()
    await roll(record, DAY_MS, NOW + HOUR_MS)
    expect(test.stored.get(record.keyId)?.expiresAt).toBe(NOW + HOUR_MS + DAY_MS)
  })

  it('expires the old key immediately without an overlap', async () => {
    const { record } = await issue()
    await roll(record, 0, NOW + HOUR_MS)
    const ended = test.stored.get(record.keyId)
    expect(ended && inactiveReason(ended, NOW + HOUR_MS)).toBe('expired')
  })

  it('never extends the lifetime of the old key', async () => {
    const { record } = await issue({ expiresAt: NOW + HOUR_MS })
    await roll(record, DAY_MS, NOW)
    expect(test.stored.get(record.keyId)?.expiresAt).toBe(NOW + HOUR_MS)
  })

  it('returns the stored end of the old key, also when a concurrent roll ends it earlier', async () => {
    const { record } = await issue()
    const { keys } = test
    const { insert } = keys
    keys.insert = async (key) => {
      keys.insert = insert
      await roll(record, 0, NOW)
      await insert(key)
    }
    const { old } = await roll(record, DAY_MS, NOW)
    expect([old.expiresAt, test.stored.get(record.keyId)?.expiresAt]).toEqual([NOW, NOW])
  })

  it('gives the new key the lifetime of the old key', async () => {
    const { record } = await issue({ expiresAt: NOW + 90 * DAY_MS })
    const successor = await roll(record, DAY_MS, NOW + 80 * DAY_MS)
    expect(successor.record.expiresAt).toBe(NOW + 170 * DAY_MS)
  })

  it('issues a key without expiry for a key without expiry', async () => {
    const { record } = await issue()
    expect((await roll(record, DAY_MS, NOW)).record.expiresAt).toBeNull()
  })

  it('keeps the original lifetime over repeated rolls', async () => {
    const { record } = await issue()
    await roll(record, DAY_MS, NOW)
    const rolled = test.stored.get(record.keyId) ?? record
    expect(rolled.expiresAt).toBe(NOW + DAY_MS)
    expect((await roll(rolled, DAY_MS, NOW + HOUR_MS)).record.expiresAt).toBeNull()
  })

  it.each([
    ['revoked', { revokedAt: NOW - 1 }],
    ['expired', { expiresAt: NOW }],
  ])('rejects a key that is %s and issues none', async (reason, instants) => {
    const { record } = await issue()
    await expect(roll({ ...record, ...instants }, DAY_MS, NOW)).rejects.toThrow(reason)
    expect(test.stored.size).toBe(1)
  })
})
