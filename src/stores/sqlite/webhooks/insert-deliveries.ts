import type { Delivery, StoredDelivery } from '../../../webhooks/deliveries/delivery.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'
import { progressOf } from './delivery-row.ts'

/**
 * Inserts deliveries that do not exist, within a transaction of the caller. Returns them as stored,
 * `null` in place of one that existed.
 */
export type InsertDeliveries = (deliveries: readonly Delivery[]) => (StoredDelivery | null)[]

const FIRST_REVISION = 1

/** Prepares {@link InsertDeliveries}. */
export function prepareDeliveryInsert(db: GuardedDatabase): InsertDeliveries {
  const insert = db.prepare(`
    INSERT INTO deliveries (
      id, endpoint_id, account_id, event_id, type, order_id, sequence, recorded_at, change, state,
      next_at, attempts, excerpt_at, step, first_failed_at, held_at, revision)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${FIRST_REVISION})
    ON CONFLICT (id) DO NOTHING`)
  return (deliveries) =>
    deliveries.map((delivery) => {
      const { event } = delivery
      const { changes } = insert.run(
        delivery.id,
        delivery.endpointId,
        delivery.accountId,
        event.id,
        event.type,
        event.orderId,
        event.sequence ?? 0,
        event.recordedAt,
        JSON.stringify(event.change),
        ...progressOf(delivery),
      )
      return changes === 0 ? null : { ...delivery, revision: FIRST_REVISION }
    })
}
