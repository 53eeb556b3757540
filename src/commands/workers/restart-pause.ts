import { backoffMs } from '../../lib/backoff.ts'

/** A worker that lived for so long did not end because of how it began. */
const STEADY_MS = 30_000

/** Milliseconds before a worker is replaced that lived for `livedMs`: the longer, the more in a row ended soon. */
export function createRestartPause(): (livedMs: number) => number {
  let inARow = 0
  return (livedMs) => {
    inARow = livedMs < STEADY_MS ? inARow + 1 : 1
    return backoffMs(inARow)
  }
}
