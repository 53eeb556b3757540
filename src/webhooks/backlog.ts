import type { DeliveryBacklog, DeliveryStore } from './deliveries/delivery-store.ts'
import type { EventFeed } from './webhook-stores.ts'

/** What a backlog is read from. */
export interface BacklogStores {
  deliveries: Pick<DeliveryStore, 'backlog'>
  events: Pick<EventFeed, 'backlog'>
}

/**
 * What waits to be sent: due deliveries, and event records without deliveries. Those are all that
 * grows while no dispatcher runs, or while it cannot read them.
 * @throws Unavailable
 */
export async function readBacklog(
  { deliveries, events }: BacklogStores,
  nowMs: number,
): Promise<DeliveryBacklog> {
  const [{ due, oldestDueAt }, { records, oldestRecordedAt }] = await Promise.all([
    deliveries.backlog(nowMs),
    events.backlog(),
  ])
  const instants = [oldestDueAt, oldestRecordedAt].filter((at) => at !== null)
  return {
    due: due + records,
    oldestDueAt: instants.length > 0 ? Math.min(...instants) : null,
  }
}
