import { DAY_MS } from '../../lib/durations.ts'
import { JITTER } from '../deliveries/retry-schedule.ts'
import type { WebhookStores } from '../webhook-stores.ts'

const HELD_MS = 7 * DAY_MS
const EXCERPT_MS = 7 * DAY_MS
/** Every process has read a deletion within seconds; a suspended one may need longer. */
const DELETED_MS = 7 * DAY_MS

/**
 * The shortest retention in milliseconds, whole days. It counts from the instant of the event. A
 * delivery that failed for a whole schedule, and then was held, stays for a day before it is
 * removed. `delaysMs`: the delay before each attempt.
 */
export function minRetentionMs(delaysMs: readonly number[]): number {
  const retriedMs = delaysMs.reduce((total, delay) => total + delay * (1 + JITTER), 0)
  return Math.ceil((retriedMs + HELD_MS + DAY_MS) / DAY_MS) * DAY_MS
}

export interface HousekeepingOptions {
  stores: Pick<WebhookStores, 'deliveries' | 'events' | 'endpoints'>
  /** How long finished deliveries and their events are kept. */
  retentionMs: number
}

/** Expires what was held for 7 days, and removes what is too old. @throws Unavailable */
export async function expireAndPurge(
  { stores: { deliveries, events, endpoints }, retentionMs }: HousekeepingOptions,
  nowMs: number,
): Promise<void> {
  const keptSince = nowMs - retentionMs
  await deliveries.expireHeld(nowMs - HELD_MS)
  await deliveries.purgeExcerpts(nowMs - EXCERPT_MS)
  await deliveries.purge(keptSince)
  await events.purge(keptSince)
  await endpoints.purgeDeleted(nowMs - DELETED_MS)
}
