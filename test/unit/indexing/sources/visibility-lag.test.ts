import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createLagTracker,
  type LagTracker,
} from '../../../../src/indexing/sources/visibility-lag.ts'
import { MINUTE_MS } from '../../../../src/lib/durations.ts'

let nowMs: number
/** The newest visible write timestamp of each account. */
let visible: Map<string, number>
let isDown: boolean
let queriedAccounts: string[]
let lags: number[]
let tracker: LagTracker
beforeEach(() => {
  vi.useFakeTimers()
  nowMs = 0
  visible = new Map()
  isDown = false
  queriedAccounts = []
  lags = []
  tracker = createLagTracker({
    async latestWrite(accountId) {
      queriedAccounts.push(accountId)
      if (isDown) throw new Error('no response')
      const key = visible.get(accountId)
      return key === undefined ? null : { key }
    },
    clock: () => nowMs,
    onLag: (seconds) => lags.push(seconds),
  })
})
afterEach(() => {
  tracker.stop()
  vi.useRealTimers()
})

/** Advances the time in steps, so that the tracker can poll. */
async function advance(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    nowMs += Math.min(100, left)
    await vi.advanceTimersByTimeAsync(Math.min(100, left))
  }
}
const write = (accountId: string, writeTimestamp: number, ...enteredAt: number[]) =>
  tracker.recordWrite({ accountId, writeTimestamp }, enteredAt)

describe('the visibility lag of a change', () => {
  it('the lag ends when the write timestamp is visible to a reader', async () => {
    write('acc_1', 7, -500, 0)
    visible.set('acc_1', 6)
    await advance(1_000)
    expect(lags).toEqual([])
    visible.set('acc_1', 7)
    await advance(100)
    expect(lags).toEqual([1.6, 1.1])
  })

  it('the lag ends when a later write of the account is visible', async () => {
    write('acc_1', 7, 0)
    visible.set('acc_1', 9)
    await advance(100)
    expect(lags).toEqual([0.1])
  })

  it('the lag of all earlier writes ends too, whatever their accounts', async () => {
    write('acc_1', 1, 0)
    write('acc_2', 2, 0)
    write('acc_1', 3, 0)
    visible.set('acc_1', 2)
    await advance(100)
    expect(lags).toEqual([0.1, 0.1])
    visible.set('acc_1', 3)
    await advance(100)
    expect(lags).toEqual([0.1, 0.1, 0.2])
  })

  it('the tracker continues while the store is unavailable', async () => {
    write('acc_1', 1, 0)
    visible.set('acc_1', 1)
    isDown = true
    await advance(500)
    isDown = false
    await advance(100)
    expect(lags).toEqual([0.6])
  })

  it('the lag of a document that was erased at once ends with the next write', async () => {
    write('acc_erased', 1, 0)
    await advance(1_000)
    write('acc_1', 2, 1_000)
    visible.set('acc_1', 2)
    await advance(4_100)
    expect(lags).toEqual([5.1, 4.1])
  })
})

describe('the lag tracker', () => {
  it('the tracker sends no query without pending writes', async () => {
    await advance(1_000)
    write('acc_1', 1, 0)
    visible.set('acc_1', 1)
    await advance(1_000)
    expect(queriedAccounts).toEqual(['acc_1'])
  })

  it('the tracker drops a write that is invisible for minutes', async () => {
    write('acc_erased', 1, 0)
    await advance(5 * MINUTE_MS)
    queriedAccounts = []
    await advance(1_000)
    expect([queriedAccounts, lags]).toEqual([[], []])
  })

  it('the tracker keeps a bounded sample of the changes of a write, including the first and the last', async () => {
    write('acc_1', 1, ...Array.from({ length: 2_000 }, (_, n) => -1_000 * n))
    visible.set('acc_1', 1)
    await advance(100)
    expect([lags.length, lags[0], lags.at(-1)]).toEqual([500, 0.1, 1_999.1])
  })

  it('the tracker keeps a bounded number of writes, and still measures all of their changes', async () => {
    for (let timestamp = 1; timestamp <= 150; timestamp++) write('acc_1', timestamp, 0)
    visible.set('acc_1', 99)
    await advance(100)
    expect(lags).toHaveLength(99)
    visible.set('acc_1', 150)
    await advance(100)
    expect(lags).toHaveLength(150)
  })

  it('the tracker sends no query after stop', async () => {
    write('acc_1', 1, 0)
    tracker.stop()
    await advance(1_000)
    expect(queriedAccounts).toEqual([])
  })
})
