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
  /** Checks the clock before a write. @throws the errors of {@link next} */
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
  let ownReading: ClockReading = { clockMs: clock(), ...readTime(time) }

  const readCurrent = () => readRow.get() as unknown as WriterRow

  function referenceTime(row: WriterRow, now = readTime(time)): ReferenceTime {
    if (isReading(row) && isOfThisBoot(row)) {
      return {
        nowMs: expectedClockMs(row, now),
        name: 'the expected time, by the last write timestamp',
      }
    }
    return {
      nowMs: expectedClockMs(ownReading, now),
      name: 'the time, by the clock when this process began',
    }
  }

  const isOfThisBoot = ({ bootId }: TimeReading) => bootId !== null && bootId === time.bootId

  return {
    check() {
      const current = readCurrent()
      nextWriteTimestamp(referenceTime(current), clock(), current.lastStamp, REMEDY)
    },
    next() {
      const current = readCurrent()
      const clockMs = clock()
      // One reading for both uses: each write would lose the time between two of them.
      const now = readTime(time)
      const reference = referenceTime(current, now)
      const writeTimestamp = nextWriteTimestamp(reference, clockMs, current.lastStamp, REMEDY)
      ownReading = { clockMs: Math.max(writeTimestamp, Math.floor(reference.nowMs)), ...now }
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

/** A reading of the machine's time. */
interface TimeReading {
  bootId: string | null
  uptimeMs: number
  monotonicMs: number
}

/** The wall clock at a reading of the machine's time. */
interface ClockReading extends TimeReading {
  clockMs: number
}

function readTime({ bootId, uptime, monotonic }: MachineTime): TimeReading {
  return { bootId, uptimeMs: uptime(), monotonicMs: monotonic() }
}

/** Above the steps of the uptime, which are 10 ms on Linux. */
const MIN_SLEEP_MS = 1_000

/**
 * The expected wall clock at `now`, given an earlier reading. The uptime counts only when it shows
 * sleep, because the rounding errors of its steps would add up over the writes. Monotonic times add
 * up exactly. A container may report its own uptime, which may be shorter.
 */
function expectedClockMs(reading: ClockReading, now: TimeReading): number {
  const awakeMs = now.monotonicMs - reading.monotonicMs
  const upMs = now.uptimeMs - reading.uptimeMs
  const elapsedMs = upMs - awakeMs > MIN_SLEEP_MS ? upMs : awakeMs
  return reading.clockMs + Math.max(elapsedMs, 0)
}
