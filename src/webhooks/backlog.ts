import type { DeliveryBacklog } from './deliveries/delivery.ts'
import type { WebhookStores } from './webhook-stores.ts'

/**
 * What waits to be sent: due deliveries, and event records without deliveries. Those are all that
 * grows while no dispatcher runs, or while it cannot read them. Throws Unavailable.
 */
export async function readBacklog(
  { deliveries, events }: Pick<WebhookStores, 'deliveries' | 'events'>,
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
