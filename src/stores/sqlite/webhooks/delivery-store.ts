import type { StoredDelivery } from '../../../webhooks/deliveries/delivery.ts'
import type { DeliveryStore } from '../../../webhooks/deliveries/delivery-store.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'
import { prepareDeliveryEndpoints } from './delivery-endpoints.ts'
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryOf, progressOf } from './delivery-row.ts'
import { createSqliteDeliverySearch } from './delivery-search.ts'
import { createDeliveryTransitions } from './delivery-transitions.ts'
import type { InsertDeliveries } from './insert-deliveries.ts'

/** Deliveries in an embedded database. */
export function createSqliteDeliveryStore(
  db: GuardedDatabase,
  insert: InsertDeliveries,
): DeliveryStore {
  const selectById = db.prepare(`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE id = ?`)
  const update = db.prepare(`
    UPDATE deliveries SET
      state = ?, next_at = ?, attempts = ?, excerpt_at = ?, step = ?, first_failed_at = ?,
      held_at = ?, revision = revision + 1
    WHERE id = ? AND revision = ?`)

  const endpoints = prepareDeliveryEndpoints(db)

  function find(id: string): StoredDelivery | null {
    const row = selectById.get(id) as unknown as DeliveryRow | undefined
    return row ? deliveryOf(row) : null
  }

  function replace(delivery: StoredDelivery): StoredDelivery | null {
    const { id, revision } = delivery
    const { changes } = update.run(...progressOf(delivery), id, Number(revision))
    return changes === 1 ? { ...delivery, revision: Number(revision) + 1 } : null
  }

  return {
    ...createSqliteDeliverySearch(db, endpoints),
    ...createDeliveryTransitions(db, endpoints),
    async create(deliveries) {
      return deliveries.length > 0 ? db.write(() => insert(deliveries)) : []
    },
    byId: async (id) => db.run(() => find(id)),
    byIds: async (ids) => db.run(() => ids.map(find)),
    async save(deliveries) {
      return deliveries.length === 0 ? [] : db.write(() => deliveries.map(replace))
    },
  }
}
