import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import {
  MAX_CLOCK_SKEW_MS,
  nextWriteTimestamp,
  type ReferenceTime,
} from '../../../indexing/writer/clock-skew.ts'
import type { Clock } from '../../../lib/clock.ts'

/** The write timestamps of a writer, in epoch milliseconds. */
export interface WriteTimestamps {
  /** Throws the errors of `next` before a write. */
  check(): void
  /**
   * The write timestamp of a bulk, within its transaction.
   * @throws ClockSkewError, TimestampsAheadError
   */
  next(): number
  /** The clock, limited to the expected time plus the maximum skew. */
  now: Clock
}

/** The single row of the table: the last write timestamp and its clock reading. */
interface WriterRow {
  lastStamp: number
  bootId: string | null
  clockMs: number | null
  uptimeMs: number | null
  monotonicMs: number | null
}

const REMEDY =
  'Set it right, then start again; if it is right, and was wrong before or the machine was paused, "index init --trust-clock" accepts it'

/**
 * An embedded database has no second clock. The expected time is the last write timestamp since
 * boot plus the time elapsed since. Before the first, it is the clock when this writer began plus
 * the time elapsed since. Setting the clock back changes neither.
 */
export function createWriteTimestamps(
  db: DatabaseSync,
  clock: Clock,
  time: MachineTime,
): WriteTimestamps {
  const readRow = db.prepare(
    'SELECT last_stamp AS lastStamp, boot_id AS bootId, clock_ms AS clockMs, uptime_ms AS uptimeMs, monotonic_ms AS monotonicMs FROM writer',
  )
  const writeRow = db.prepare(
    'UPDATE writer SET last_stamp = ?, boot_id = ?, clock_ms = ?, uptime_ms = ?, monotonic_ms = ?',
  )
  /** The reading of this process; the reading in the row has priority. */
  let ownReading: ClockReading = readClock(clock(), time)

  const readCurrent = () => readRow.get() as unknown as WriterRow

  function referenceTime(row: WriterRow): ReferenceTime {
    if (isReading(row) && isOfThisBoot(row)) {
      return {
        nowMs: expectedClockMs(row, time),
        name: 'the expected time, by the last write timestamp',
      }
    }
    return {
      nowMs: expectedClockMs(ownReading, time),
      name: 'the time, by the clock when this process began',
    }
  }

  const isOfThisBoot = ({ bootId }: ClockReading) => bootId !== null && bootId === time.bootId

  return {
    check() {
      const current = readCurrent()
      nextWriteTimestamp(referenceTime(current), clock(), current.lastStamp, REMEDY)
    },
    next() {
      const current = readCurrent()
      const reference = referenceTime(current)
      const writeTimestamp = nextWriteTimestamp(reference, clock(), current.lastStamp, REMEDY)
      ownReading = readClock(Math.max(writeTimestamp, Math.floor(reference.nowMs)), time)
      writeRow.run(
        writeTimestamp,
        ownReading.bootId,
        ownReading.clockMs,
        ownReading.uptimeMs,
        ownReading.monotonicMs,
      )
      return writeTimestamp
    },
    now: () => Math.min(clock(), referenceTime(readCurrent()).nowMs + MAX_CLOCK_SKEW_MS),
  }
}

/** Discards the last clock reading, so that the next writer starts from its current clock. */
export function forgetClock(db: DatabaseSync): void {
  db.exec('UPDATE writer SET boot_id = NULL')
}

function isReading(row: WriterRow): row is WriterRow & ClockReading {
  return row.clockMs !== null && row.uptimeMs !== null && row.monotonicMs !== null
}

/** Time since boot, independent of the wall clock and comparable between processes. */
export interface MachineTime {
  /** Unique for each boot; `null` where the system reports none. */
  bootId: string | null
  /** Milliseconds since boot, including sleep. */
  uptime: Clock
  /** Milliseconds since boot, excluding sleep. */
  monotonic: Clock
}

export const machineTime: MachineTime = {
  bootId: readBootId(),
  uptime: () => Math.round(uptime() * 1_000),
  monotonic: () => Number(process.hrtime.bigint() / 1_000_000n),
}

function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return null // Not Linux: only a single process can then detect that its clock was set.
  }
}

/** A wall-clock reading with the uptime at that moment. */
interface ClockReading {
  bootId: string | null
  clockMs: number
  uptimeMs: number
  monotonicMs: number
}

function readClock(clockMs: number, time: MachineTime): ClockReading {
  const { bootId } = time
  return { bootId, clockMs, uptimeMs: time.uptime(), monotonicMs: time.monotonic() }
}

/**
 * The expected wall clock now, given an earlier reading. A container may report its own uptime, so
 * the longer of the two elapsed times counts.
 */
function expectedClockMs(reading: ClockReading, time: MachineTime): number {
  const elapsedMs = Math.max(
    time.uptime() - reading.uptimeMs,
    time.monotonic() - reading.monotonicMs,
    0,
  )
  return reading.clockMs + elapsedMs
}
