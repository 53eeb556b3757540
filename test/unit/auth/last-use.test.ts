import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { KeyTimestamps } from '../../../src/auth/key-store.ts'
import { createLastUse, type LastUse } from '../../../src/auth/last-use.ts'
import { HOUR_MS, MINUTE_MS } from '../../../src/lib/durations.ts'
import { Unavailable } from '../../../src/lib/errors/unavailable.ts'
import { keyRecord } from '../../support/stores/key-record.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')

const WITHIN_MS = 10_000

const key = (lastValidAt: number | null) => keyRecord({ lastValidAt })

const used = key(NOW - HOUR_MS)

let written: KeyTimestamps[]
let failures: unknown[]
let isDown: boolean
let lastUse: LastUse

beforeEach(() => {
  written = []
  failures = []
  isDown = false
  const update = async (_digest: string, instants: KeyTimestamps) => {
    if (isDown) throw new Unavailable('store down')
    written.push(instants)
  }
  lastUse = createLastUse({
    keys: { update },
    deadlineMs: WITHIN_MS,
    onFailure: (_key, error) => failures.push(error),
  })
})

describe('the last use of a key', () => {
  it('the last use of a key is -Infinity for a key that never authenticated', () => {
    expect(lastUse.of(key(null))).toBe(-Infinity)
  })

  it('the last use of a key is the later of the stored and the recorded time', () => {
    expect(lastUse.of(key(NOW - HOUR_MS))).toBe(NOW - HOUR_MS)
    lastUse.record(key(NOW - HOUR_MS), NOW)
    expect(lastUse.of(key(NOW - HOUR_MS))).toBe(NOW)
  })

  it('the last use of a key is written once an hour, even if the cached record is old', () => {
    for (let minute = 0; minute < 120; minute++) lastUse.record(used, NOW + minute * MINUTE_MS)
    expect(written).toEqual([{ lastValidAt: NOW }, { lastValidAt: NOW + HOUR_MS }])
  })

  it('the last use of a key is not written when the record has a use within the hour', () => {
    lastUse.record(key(NOW - HOUR_MS + 1), NOW)
    expect(written).toEqual([])
  })

  it('the last use of a key is retried after a minute when the write fails, without an effect on requests', async () => {
    isDown = true
    lastUse.record(used, NOW)
    await expect.poll(() => failures).toHaveLength(1)

    isDown = false
    lastUse.record(used, NOW + MINUTE_MS - 1)
    expect(written).toEqual([])
    lastUse.record(used, NOW + MINUTE_MS)
    expect(written).toEqual([{ lastValidAt: NOW + MINUTE_MS }])
  })
})

describe('the first use of a key', () => {
  it('the first use of a key is stored before the call returns', async () => {
    await lastUse.storeFirst(key(null), NOW, WITHIN_MS)
    expect(written).toEqual([{ lastValidAt: NOW }])
    expect(lastUse.of(key(null))).toBe(NOW)
  })

  it('the first use of a key is stored once for concurrent requests', async () => {
    const calls = [1, 2, 3].map(() => lastUse.storeFirst(key(null), NOW, WITHIN_MS))
    await Promise.all(calls)
    expect(written).toEqual([{ lastValidAt: NOW }])
  })

  it('the first use of a key that is not stored is the first again, after a second without writes', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    isDown = true
    await expect(lastUse.storeFirst(key(null), NOW, WITHIN_MS)).rejects.toThrow('store down')
    isDown = false
    const other = keyRecord({ digest: 'other' })
    await expect(lastUse.storeFirst(other, NOW, WITHIN_MS)).rejects.toThrow('store down')
    expect([lastUse.of(key(null)), written]).toEqual([-Infinity, []])

    await vi.advanceTimersByTimeAsync(1_000)
    await lastUse.storeFirst(key(null), NOW, WITHIN_MS)
    expect(written).toEqual([{ lastValidAt: NOW }])
  })

  describe('in a store that is slow', () => {
    function openSlow(deadlineMs: number) {
      const { promise: stored, resolve } = Promise.withResolvers<void>()
      const update = vi.fn(() => stored)
      const slow = createLastUse({ keys: { update }, deadlineMs, onFailure() {} })
      return { slow, update, resolve }
    }

    it('is known once it is stored, although its request failed', async () => {
      const { slow, resolve } = openSlow(WITHIN_MS)
      await expect(slow.storeFirst(key(null), NOW, 20)).rejects.toThrow('not stored within 20 ms')
      resolve()
      await expect.poll(() => slow.of(key(null))).toBe(NOW)
    })

    it('fails the request that has no time left, and neither other requests nor other keys', async () => {
      const { slow, resolve } = openSlow(WITHIN_MS)
      const late = slow.storeFirst(key(null), NOW, 20)
      const same = slow.storeFirst(key(null), NOW, WITHIN_MS)
      await expect(late).rejects.toThrow('not stored within 20 ms')
      const other = slow.storeFirst(keyRecord({ digest: 'other' }), NOW, WITHIN_MS)
      resolve()
      await Promise.all([same, other])
    })

    it('pauses the writes once one took the whole deadline', async () => {
      const { slow, update } = openSlow(20)
      const stored = slow.storeFirst(key(null), NOW, WITHIN_MS)
      await expect(stored).rejects.toThrow('not stored within 20 ms')
      const other = slow.storeFirst(keyRecord({ digest: 'other' }), NOW, WITHIN_MS)
      await expect(other).rejects.toThrow('not stored within 20 ms')
      expect(update).toHaveBeenCalledOnce()
    })
  })
})
