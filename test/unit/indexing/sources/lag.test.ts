import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLagMeter, type LagMeter } from '../../../../src/indexing/sources/lag.ts'

const MINUTE_MS = 60_000

let nowMs: number
/** The stamps that readers of each account are shown. */
let shown: Map<string, number>
let isDown: boolean
let asked: string[]
let lags: number[]
let meter: LagMeter
beforeEach(() => {
  vi.useFakeTimers()
  nowMs = 0
  shown = new Map()
  isDown = false
  asked = []
  lags = []
  meter = createLagMeter({
    async latestWrite(accountId) {
      asked.push(accountId)
      if (isDown) throw new Error('no answer')
      const key = shown.get(accountId)
      return key === undefined ? null : { key }
    },
    clock: () => nowMs,
    onLag: (seconds) => lags.push(seconds),
  })
})
afterEach(() => {
  meter.stop()
  vi.useRealTimers()
})

/** Lets time pass, in steps in which the meter may ask. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    nowMs += Math.min(100, left)
    await vi.advanceTimersByTimeAsync(Math.min(100, left))
  }
}
const write = (accountId: string, stamp: number, ...enteredAt: number[]) =>
  meter.written({ accountId, stamp }, enteredAt)

describe('the lag of a change', () => {
  it('ends when a reader is shown its stamp', async () => {
    write('acc_1', 7, -500, 0)
    shown.set('acc_1', 6)
    await pass(1_000)
    expect(lags).toEqual([])
    shown.set('acc_1', 7)
    await pass(100)
    expect(lags).toEqual([1.6, 1.1])
  })

  it('ends when a reader is shown a later write of the account', async () => {
    write('acc_1', 7, 0)
    shown.set('acc_1', 9)
    await pass(100)
    expect(lags).toEqual([0.1])
  })

  it('ends with that of all earlier writes, whatever their accounts', async () => {
    write('acc_1', 1, 0)
    write('acc_2', 2, 0)
    write('acc_1', 3, 0)
    shown.set('acc_1', 2)
    await pass(100)
    expect(lags).toEqual([0.1, 0.1])
    shown.set('acc_1', 3)
    await pass(100)
    expect(lags).toEqual([0.1, 0.1, 0.2])
  })

  it('goes on while the store does not answer', async () => {
    write('acc_1', 1, 0)
    shown.set('acc_1', 1)
    isDown = true
    await pass(500)
    isDown = false
    await pass(100)
    expect(lags).toEqual([0.6])
  })

  it('whose document was erased at once ends with that of the next write', async () => {
    write('acc_erased', 1, 0)
    await pass(1_000)
    write('acc_1', 2, 1_000)
    shown.set('acc_1', 2)
    await pass(4_100)
    expect(lags).toEqual([5.1, 4.1])
  })
})

describe('the meter', () => {
  it('asks nothing while nothing waits', async () => {
    await pass(1_000)
    write('acc_1', 1, 0)
    shown.set('acc_1', 1)
    await pass(1_000)
    expect(asked).toEqual(['acc_1'])
  })

  it('gives up what nobody is shown for minutes', async () => {
    write('acc_erased', 1, 0)
    await pass(5 * MINUTE_MS)
    asked = []
    await pass(1_000)
    expect([asked, lags]).toEqual([[], []])
  })

  it('keeps a bounded number of changes of a write, the first and the last among them', async () => {
    write('acc_1', 1, ...Array.from({ length: 2_000 }, (_, n) => -1_000 * n))
    shown.set('acc_1', 1)
    await pass(100)
    expect([lags.length, lags[0], lags.at(-1)]).toEqual([500, 0.1, 1_999.1])
  })

  it('keeps a bounded number of writes, and loses none of their changes’ end', async () => {
    for (let stamp = 1; stamp <= 150; stamp++) write('acc_1', stamp, 0)
    shown.set('acc_1', 99)
    await pass(100)
    expect(lags).toHaveLength(99)
    shown.set('acc_1', 150)
    await pass(100)
    expect(lags).toHaveLength(150)
  })

  it('asks no more when it is stopped', async () => {
    write('acc_1', 1, 0)
    meter.stop()
    await pass(1_000)
    expect(asked).toEqual([])
  })
})
