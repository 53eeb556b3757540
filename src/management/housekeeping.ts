import type { Clock } from '../lib/clock.ts'
import { HOUR_MS } from '../lib/durations.ts'
import { IDEMPOTENCY_KEY_TTL_MS } from './idempotency/idempotency.ts'
import type { ManagementStores } from './management-stores.ts'
import { dayBefore } from './usage/usage-day.ts'

/** A year can be compared with the one before, and a month more. */
const USAGE_DAYS = 400
const INTERVAL_MS = HOUR_MS

export interface HousekeepingOptions {
  stores: PurgedStores
  /** Epoch milliseconds. */
  clock: Clock
  /** Receives a failed purge, which the next hour repeats. */
  onFailure(error: unknown): void
}

type PurgedStores = Pick<ManagementStores, 'usage' | 'sessions' | 'idempotency'>

/**
 * Removes a day of usage of more than 400 days ago, and links, sessions and idempotent requests
 * that ended. Entries of the audit log are kept.
 * @throws Unavailable
 */
export async function purgeExpired(stores: PurgedStores, nowMs: number): Promise<void> {
  await stores.sessions.purge(nowMs)
  await stores.idempotency.purge(nowMs - IDEMPOTENCY_KEY_TTL_MS)
  await stores.usage.purge(dayBefore(nowMs, USAGE_DAYS))
}

export interface Housekeeping {
  /** Ends it. Waits for a purge that is running. */
  close(): Promise<void>
}

/** Purges now and every hour, in the background. Several processes may do so at the same time. */
export function startHousekeeping({ stores, clock, onFailure }: HousekeepingOptions): Housekeeping {
  let purge = Promise.resolve()
  const run = () => {
    purge = purge.then(() => purgeExpired(stores, clock())).catch(onFailure)
  }
  run()
  const timer = setInterval(run, INTERVAL_MS).unref()
  return {
    async close() {
      clearInterval(timer)
      await purge
    },
  }
}
