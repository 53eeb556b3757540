import { backoffMs } from '../../lib/backoff.ts'

/** A worker that lived for so long did not end because of how it began. */
const STABLE_UPTIME_MS = 30_000

/** Milliseconds before a worker is replaced that lived for `livedMs`: the longer, the more in a row ended soon. */
export function createRestartBackoff(): (uptimeMs: number) => number {
  let shortLivedCount = 0
  return (uptimeMs) => {
    shortLivedCount = uptimeMs < STABLE_UPTIME_MS ? shortLivedCount + 1 : 1
    return backoffMs(shortLivedCount)
  }
}
