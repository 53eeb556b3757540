import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import type { Clock } from '../../../lib/clock.ts'

/** Time that passes on a machine whatever its clock is set to, comparable between its processes. */
export interface MachineTime {
  /** Unlike that of any other start of the machine; `null` where it has none. */
  bootId: string | null
  /** Milliseconds since the machine started, those it slept included. */
  uptime: Clock
  /** Milliseconds since the machine started, those it slept left out. */
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

/** What a clock showed, and when. */
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

/** What a clock must show now that showed this. A container may tell an uptime of its own: the longer counts. */
export function expectedClockMs(reading: ClockReading, time: MachineTime): number {
  const elapsedMs = Math.max(
    time.uptime() - reading.uptimeMs,
    time.monotonic() - reading.monotonicMs,
    0,
  )
  return reading.clockMs + elapsedMs
}
