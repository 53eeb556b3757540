import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  ClockSkewError,
  TimestampsAheadError,
} from '../../../../../src/indexing/writer/clock-skew.ts'
import { HOUR_MS } from '../../../../../src/lib/durations.ts'
import { applyMigrations } from '../../../../../src/stores/sqlite/database/database.ts'
import { ordersMigrations } from '../../../../../src/stores/sqlite/database/schema.ts'
import {
  createWriteTimestamps,
  forgetClock,
} from '../../../../../src/stores/sqlite/write/write-timestamps.ts'

const NOON = Date.parse('2026-03-01T12:00:00Z')
/** Of Linux. */
const UPTIME_STEP_MS = 10

let db: DatabaseSync
let clockMs: number
let time: { bootId: string | null; uptimeMs: number; monotonicMs: number }
beforeEach(() => {
  db = new DatabaseSync(':memory:')
  applyMigrations(db, ordersMigrations)
  clockMs = NOON
  time = { bootId: 'first', uptimeMs: 60_000, monotonicMs: 60_000 }
})
afterEach(() => db.close())

/** A writing process. */
const start = () =>
  createWriteTimestamps(db, () => clockMs, {
    get bootId() {
      return time.bootId
    },
    uptime: () => time.uptimeMs,
    monotonic: () => time.monotonicMs,
  })

/** Advances the time and the clock. */
function advance(ms: number): void {
  clockMs += ms
  time.uptimeMs += ms
  time.monotonicMs += ms
}

describe('a write timestamp of the embedded store', () => {
  it('the write timestamp is the time, or one more than the last while the clock is behind', () => {
    const timestamps = start()
    expect(timestamps.next()).toBe(NOON)
    advance(1_500)
    expect(timestamps.next()).toBe(NOON + 1_500)
    clockMs -= HOUR_MS
    expect(timestamps.next()).toBe(NOON + 1_501)
  })

  it('the write timestamp follows a clock that repeatedly steps less than 5 s', () => {
    const timestamps = start()
    timestamps.next()
    for (let step = 1; step <= 10; step++) {
      clockMs += 5_000
      expect(timestamps.next()).toBe(NOON + step * 5_000)
    }
  })

  it('the store issues no write timestamp when the clock steps further, until it is right again', () => {
    const timestamps = start()
    timestamps.next()
    clockMs += 5_001
    expect(() => timestamps.next()).toThrow(ClockSkewError)
    clockMs -= 5_000
    expect(timestamps.next()).toBe(NOON + 1)
  })

  it('the store issues no write timestamp to the next process either', () => {
    start().next()
    clockMs += HOUR_MS
    expect(() => start().check()).toThrow(
      '3600 s ahead of the expected time, by the last write timestamp',
    )
  })

  it('the store issues a write timestamp after any time without writes', () => {
    start().next()
    advance(100 * HOUR_MS)
    expect(start().next()).toBe(NOON + 100 * HOUR_MS)
  })

  it('the store issues a write timestamp after the machine slept', () => {
    const timestamps = start()
    timestamps.next()
    clockMs += HOUR_MS
    time.uptimeMs += HOUR_MS
    expect(timestamps.next()).toBe(NOON + HOUR_MS)
  })

  it('the store counts a sleep of seconds once, beside any number of writes', () => {
    const timestamps = start()
    timestamps.next()
    clockMs += 6_000
    time.uptimeMs += 6_000
    timestamps.next()
    for (let write = 1; write <= 100; write++) {
      advance(10)
      expect(timestamps.next()).toBe(NOON + 6_000 + write * 10)
    }
    clockMs += 5_001
    expect(() => timestamps.next()).toThrow(ClockSkewError)
  })

  it('the limit of the clock does not drift over writes between the steps of the uptime', () => {
    const timestamps = start()
    for (let write = 0; write < 12_000; write++) {
      timestamps.next()
      clockMs += 5
      time.monotonicMs += 5
      time.uptimeMs = Math.floor(time.monotonicMs / UPTIME_STEP_MS) * UPTIME_STEP_MS
    }
    clockMs += 5_001
    expect(() => timestamps.next()).toThrow(ClockSkewError)
    expect(() => start().next()).toThrow(ClockSkewError)
  })

  it('the limit of the clock does not fall behind while a clock is set back', () => {
    const timestamps = createWriteTimestamps(db, () => clockMs, {
      bootId: 'first',
      uptime: () => time.uptimeMs,
      // Time passes between two readings.
      monotonic: () => time.monotonicMs++,
    })
    timestamps.next()
    clockMs -= HOUR_MS
    for (let write = 0; write < 6_000; write++) timestamps.next()
    clockMs = NOON + time.monotonicMs - 60_000
    expect(timestamps.next()).toBe(clockMs)
  })

  it('the store issues a write timestamp after a clock that was set back is right again', () => {
    start().next()
    clockMs -= HOUR_MS
    const timestamps = start()
    timestamps.next()
    clockMs += HOUR_MS
    expect(timestamps.next()).toBe(NOON + 2)
  })

  it('the write timestamp is the time after a reboot, or after the clock was confirmed', () => {
    start().next()
    clockMs += HOUR_MS
    time = { bootId: 'second', uptimeMs: 1_000, monotonicMs: 1_000 }
    expect(start().next()).toBe(NOON + HOUR_MS)
    clockMs += HOUR_MS
    forgetClock(db)
    expect(start().next()).toBe(NOON + 2 * HOUR_MS)
  })

  it('without a boot id only the process that saw the step issues no write timestamp', () => {
    time.bootId = null
    const timestamps = start()
    timestamps.next()
    clockMs += HOUR_MS
    expect(() => timestamps.next()).toThrow(ClockSkewError)
    expect(start().next()).toBe(NOON + HOUR_MS)
  })

  it('the store issues no write timestamp while the last one is more than 5 s ahead of an unknown clock', () => {
    db.exec(`UPDATE writer SET last_stamp = ${NOON + 4 * 365 * 24 * HOUR_MS}`)
    expect(() => start().check()).toThrow(TimestampsAheadError)
    expect(() => start().next()).toThrow('126144000 s ahead')
    db.exec(`UPDATE writer SET last_stamp = ${NOON + 4_000}`)
    expect(start().next()).toBe(NOON + 4_001)
  })

  it('the write timestamps limit what counts as the future', () => {
    const timestamps = start()
    timestamps.next()
    clockMs += HOUR_MS
    expect(timestamps.now()).toBe(NOON + 5_000)
  })
})
