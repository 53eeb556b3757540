import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DAY_MS } from '../../../../src/lib/durations.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { sumUsage } from '../../../../src/management/usage/sum-usage.ts'
import {
  createUsageRecorder,
  type UsageRecorder,
} from '../../../../src/management/usage/usage-recorder.ts'
import type { UsageCounters } from '../../../../src/management/usage/usage-store.ts'

const NOON = Date.parse('2026-11-01T12:00:00Z')

let nowMs: number
/** By day, key and process, as the port requires. */
let stored: Map<string, UsageCounters>
let saves: (readonly UsageCounters[])[]
/** Failures, and `recovered`. */
let reports: unknown[]
/** The next calls of the store that fail. */
let outages: number
let recorder: UsageRecorder

beforeEach(() => {
  nowMs = NOON
  stored = new Map()
  saves = []
  reports = []
  outages = 0
  recorder = createUsageRecorder({
    clock: () => nowMs,
    onFailure: (error) => reports.push(error),
    onRecovered: () => reports.push('recovered'),
    store: {
      async save(counters) {
        outages -= 1
        if (outages >= 0) throw new Unavailable('the store does not respond')
        saves.push(counters)
        for (const counted of counters) {
          stored.set(`${counted.day} ${counted.keyId} ${counted.processId}`, counted)
        }
      },
    },
  })
})
afterEach(() => recorder.close())

const sums = () =>
  sumUsage([...stored.values()]).map(({ day, keyId, requests }) => [day, keyId, requests])

describe('the usage recorder', () => {
  it('counts by key and status, 429s apart, with the last use', async () => {
    for (const status of [200, 200, 304, 429]) {
      nowMs += 1
      recorder.record('key_1', 'acc_1', status)
    }
    recorder.record('key_2', 'acc_2', 404)
    await recorder.flush()
    expect([...stored.values()]).toEqual([
      {
        ...{ day: '2026-11-01', keyId: 'key_1', accountId: 'acc_1' },
        processId: expect.any(String),
        ...{ requests: 4, byStatus: { 200: 2, 304: 1, 429: 1 }, rateLimited: 1 },
        lastUsedAt: NOON + 4,
      },
      expect.objectContaining({ keyId: 'key_2', accountId: 'acc_2', byStatus: { 404: 1 } }),
    ])
  })

  it('stores absolute counts, and only of keys that were used since the last flush', async () => {
    recorder.record('key_1', 'acc_1', 200)
    recorder.record('key_2', 'acc_1', 200)
    await recorder.flush()
    recorder.record('key_2', 'acc_1', 200)
    await recorder.flush()
    await recorder.flush()
    const flushed = saves.map((counters) =>
      counters.map(({ keyId, requests }) => [keyId, requests]),
    )
    expect(flushed).toEqual([
      [
        ['key_1', 1],
        ['key_2', 1],
      ],
      [['key_2', 2]],
    ])
  })

  it('starts a day at midnight UTC', async () => {
    nowMs = Date.parse('2026-11-01T23:59:59.999Z')
    recorder.record('key_1', 'acc_1', 200)
    nowMs += 1
    recorder.record('key_1', 'acc_1', 200)
    await recorder.flush()
    expect(sums()).toEqual([
      ['2026-11-01', 'key_1', 1],
      ['2026-11-02', 'key_1', 1],
    ])
  })

  it('loses nothing of an ended day when the clock goes back', async () => {
    recorder.record('key_1', 'acc_1', 200)
    nowMs += DAY_MS
    recorder.record('key_1', 'acc_1', 200)
    await recorder.flush()
    nowMs -= DAY_MS
    recorder.record('key_1', 'acc_1', 200)
    await recorder.flush()
    expect(sums()).toEqual([
      ['2026-11-01', 'key_1', 2],
      ['2026-11-02', 'key_1', 1],
    ])
  })

  it('counts on the right day after a clock that was years ahead', async () => {
    nowMs += 1_000 * DAY_MS
    recorder.record('key_1', 'acc_1', 200)
    nowMs = NOON
    recorder.record('key_1', 'acc_1', 200)
    nowMs += DAY_MS
    recorder.record('key_1', 'acc_1', 200)
    await recorder.flush()
    expect(sums()).toEqual([
      ['2026-11-01', 'key_1', 1],
      ['2026-11-02', 'key_1', 1],
      ['2029-07-28', 'key_1', 1],
    ])
  })

  it('repeats a failed flush, also of a day that ended meanwhile', async () => {
    outages = 2
    recorder.record('key_1', 'acc_1', 200)
    await recorder.flush()
    nowMs += DAY_MS
    recorder.record('key_1', 'acc_1', 429)
    await recorder.flush()
    expect(stored.size).toBe(0)
    await recorder.flush()
    expect(sums()).toEqual([
      ['2026-11-01', 'key_1', 1],
      ['2026-11-02', 'key_1', 1],
    ])
  })

  it('reports the first of failed flushes in a row, and the first success after them', async () => {
    for (const failed of [2, 1]) {
      outages = failed
      recorder.record('key_1', 'acc_1', 200)
      for (let flush = 0; flush < 4; flush += 1) await recorder.flush()
    }
    const failure = expect.any(Unavailable)
    expect(reports).toEqual([failure, 'recovered', failure, 'recovered'])
  })

  it('counts a response that ends during a flush in the next one', async () => {
    recorder.record('key_1', 'acc_1', 200)
    const flushed = recorder.flush()
    recorder.record('key_1', 'acc_1', 200)
    await flushed
    recorder.record('key_1', 'acc_1', 200)
    await recorder.flush()
    expect(sums()).toEqual([['2026-11-01', 'key_1', 3]])
  })

  it('stores many keys in chunks that add up', async () => {
    for (let n = 0; n < 1_001; n += 1) recorder.record(`key_${n}`, 'acc_1', 200)
    await recorder.flush()
    expect(stored.size).toBe(1_001)
    expect(saves.length).toBeGreaterThan(1)
  })

  it('retries the last flush when it closes', async () => {
    outages = 2
    recorder.record('key_1', 'acc_1', 200)
    await recorder.close()
    expect(reports).toEqual([])
    expect(sums()).toEqual([['2026-11-01', 'key_1', 1]])
  })

  it('flushes by itself', async () => {
    const periodic = createUsageRecorder({
      ...{ clock: () => nowMs, onFailure: (error: unknown) => reports.push(error), flushMs: 1 },
      onRecovered() {},
      store: { save: async (counters) => void saves.push(counters) },
    })
    periodic.record('key_1', 'acc_1', 200)
    await expect.poll(() => saves.length).toBe(1)
    await periodic.close()
  })
})
