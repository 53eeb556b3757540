import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import type { Clock } from '../../../lib/clock.ts'

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
export interface ClockReading {
  bootId: string | null
  clockMs: number
  uptimeMs: number
  monotonicMs: number
}

export function readClock(clockMs: number, time: MachineTime): ClockReading {
  const { bootId } = time
  return { bootId, clockMs, uptimeMs: time.uptime(), monotonicMs: time.monotonic() }
}

/**
 * The expected wall clock now, given an earlier reading. A container may report its own uptime, so
 * the longer of the two elapsed times counts.
 */
export function expectedClockMs(reading: ClockReading, time: MachineTime): number {
  const elapsedMs = Math.max(
    time.uptime() - reading.uptimeMs,
    time.monotonic() - reading.monotonicMs,
    0,
  )
  return reading.clockMs + elapsedMs
}
