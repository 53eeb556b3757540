import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  ClockSkewError,
  TimestampsAheadError,
} from '../../../../../src/indexing/writer/clock-skew.ts'
import { ordersMigrations } from '../../../../../src/stores/sqlite/database/orders-schema.ts'
import {
  createWriteTimestamps,
  forgetClock,
} from '../../../../../src/stores/sqlite/write/write-timestamps.ts'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const HOUR_MS = 3_600_000

let db: DatabaseSync
let clockMs: number
let time: { bootId: string | null; uptimeMs: number; monotonicMs: number }
beforeEach(() => {
  db = new DatabaseSync(':memory:')
  for (const step of ordersMigrations) db.exec(step)
  clockMs = NOON
  time = { bootId: 'first', uptimeMs: 60_000, monotonicMs: 60_000 }
})
afterEach(() => db.close())

/** A process that writes. */
const start = () =>
  createWriteTimestamps(db, () => clockMs, {
    get bootId() {
      return time.bootId
    },
    uptime: () => time.uptimeMs,
    monotonic: () => time.monotonicMs,
  })

/** Time passes, and the clock shows it. */
function advance(ms: number): void {
  clockMs += ms
  time.uptimeMs += ms
  time.monotonicMs += ms
}

describe('a stamp of the embedded store', () => {
  it('is the time, and one more than the last while the clock is behind', () => {
    const timestamps = start()
    expect(timestamps.next()).toBe(NOON)
    advance(1_500)
    expect(timestamps.next()).toBe(NOON + 1_500)
    clockMs -= HOUR_MS
    expect(timestamps.next()).toBe(NOON + 1_501)
  })

  it('follows a clock that steps less than 5 s, again and again', () => {
    const timestamps = start()
    timestamps.next()
    for (let step = 1; step <= 10; step++) {
      clockMs += 5_000
      expect(timestamps.next()).toBe(NOON + step * 5_000)
    }
  })

  it('is refused when the clock steps further, until it is right again', () => {
    const timestamps = start()
    timestamps.next()
    clockMs += 5_001
    expect(() => timestamps.next()).toThrow(ClockSkewError)
    clockMs -= 5_000
    expect(timestamps.next()).toBe(NOON + 1)
  })

  it('is refused to the next process as well, before it writes', () => {
    start().next()
    clockMs += HOUR_MS
    expect(() => start().check()).toThrow('3600 s ahead of the expected time, by the last stamp')
  })

  it('is given after a time in which nothing was written, however long', () => {
    start().next()
    advance(100 * HOUR_MS)
    expect(start().next()).toBe(NOON + 100 * HOUR_MS)
  })

  it('is given after the machine slept', () => {
    const timestamps = start()
    timestamps.next()
    clockMs += HOUR_MS
    time.uptimeMs += HOUR_MS
    expect(timestamps.next()).toBe(NOON + HOUR_MS)
  })

  it('is given after a clock that was set back is right again', () => {
    start().next()
    clockMs -= HOUR_MS
    const timestamps = start()
    timestamps.next()
    clockMs += HOUR_MS
    expect(timestamps.next()).toBe(NOON + 2)
  })

  it('is the time once the machine was started again, or the clock was said to be right', () => {
    start().next()
    clockMs += HOUR_MS
    time = { bootId: 'second', uptimeMs: 1_000, monotonicMs: 1_000 }
    expect(start().next()).toBe(NOON + HOUR_MS)
    clockMs += HOUR_MS
    forgetClock(db)
    expect(start().next()).toBe(NOON + 2 * HOUR_MS)
  })

  it('is refused where the machine has no name of its start only to the process that saw the step', () => {
    time.bootId = null
    const timestamps = start()
    timestamps.next()
    clockMs += HOUR_MS
    expect(() => timestamps.next()).toThrow(ClockSkewError)
    expect(start().next()).toBe(NOON + HOUR_MS)
  })

  it('is refused while the last one is more than 5 s ahead of a clock that nothing is known of', () => {
    db.exec(`UPDATE writer SET last_stamp = ${NOON + 4 * 365 * 24 * HOUR_MS}`)
    expect(() => start().check()).toThrow(TimestampsAheadError)
    expect(() => start().next()).toThrow('126144000 s ahead')
    db.exec(`UPDATE writer SET last_stamp = ${NOON + 4_000}`)
    expect(start().next()).toBe(NOON + 4_001)
  })

  it('bounds what is taken for the future', () => {
    const timestamps = start()
    timestamps.next()
    clockMs += HOUR_MS
    expect(timestamps.now()).toBe(NOON + 5_000)
  })
})
