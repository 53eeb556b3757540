import { deliveryStates, FAILED_STATES } from '../../../webhooks/deliveries/delivery.ts'
import type {
  DeliveryBacklog,
  DeliverySearch,
} from '../../../webhooks/deliveries/delivery-store.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'
import type { DeliveryEndpoints } from './delivery-endpoints.ts'
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryOf } from './delivery-row.ts'

/** Before every delivery. Ids of rows need no look-up, since no event is that late. */
const FIRST = { recordedAt: Number.MAX_SAFE_INTEGER, sequence: 0, id: '' }

/**
 * Creates the searches. These statements, and those that change deliveries, name their indices,
 * because the planner has no sizes of the partial ones.
 */
export function createSqliteDeliverySearch(
  db: GuardedDatabase,
  endpoints: DeliveryEndpoints,
): DeliverySearch {
  /** Prepares a list of the rows of `source`, the newest first. */
  const prepareList = (source: string) =>
    db.prepare(`
      SELECT ${DELIVERY_COLUMNS} FROM ${source} endpoint_id = ?
        AND state IN (SELECT value FROM json_each(?))
        AND (recorded_at, sequence, rowid) < (?, ?, (SELECT rowid FROM deliveries WHERE id = ?))
      ORDER BY recorded_at DESC, sequence DESC, rowid DESC LIMIT ?`)
  const selectList = prepareList('deliveries INDEXED BY deliveries_by_event WHERE')
  const selectFailures = prepareList(
    "deliveries INDEXED BY deliveries_failed WHERE state IN ('failed', 'expired') AND",
  )
  // `NULL NOT IN (…)` is not true, and a test event has no order.
  const selectDue = db.prepare(`
    SELECT ${DELIVERY_COLUMNS} FROM deliveries INDEXED BY deliveries_pending
    WHERE state = 'pending' AND endpoint_id = ? AND next_at <= ?
      AND (order_id IS NULL OR order_id NOT IN (SELECT value FROM json_each(?)))
      AND id NOT IN (SELECT value FROM json_each(?))
    ORDER BY next_at, recorded_at, sequence LIMIT ?`)
  const selectNextDueAt = db.prepare(`
    SELECT min(next_at) AS nextAt FROM deliveries INDEXED BY deliveries_pending
    WHERE state = 'pending' AND endpoint_id = ?`)
  const selectFailing = db.prepare(`
    SELECT ${DELIVERY_COLUMNS} FROM deliveries INDEXED BY deliveries_failing
    WHERE state = 'pending' AND endpoint_id = ? AND first_failed_at >= ?
    ORDER BY first_failed_at LIMIT ?`)
  const countDue = db.prepare(`
    SELECT count(*) AS due FROM deliveries INDEXED BY deliveries_pending
    WHERE state = 'pending' AND endpoint_id = ? AND next_at <= ?`)

  const readAll = (work: () => unknown) =>
    (db.run(work) as unknown as DeliveryRow[]).map(deliveryOf)

  return {
    async list({ endpointId, states = deliveryStates, limit, after = FIRST }) {
      const select = states.every((state) => FAILED_STATES.includes(state))
        ? selectFailures
        : selectList
      const { recordedAt, sequence, id } = after
      return readAll(() =>
        select.all(endpointId, JSON.stringify(states), recordedAt, sequence, id, limit),
      )
    },
    async due({ endpointId, nowMs, limit, excludedOrders, excludedIds }) {
      const excluded = [JSON.stringify(excludedOrders), JSON.stringify(excludedIds)] as const
      return readAll(() => selectDue.all(endpointId, nowMs, ...excluded, limit))
    },
    async nextDueAt(endpointId) {
      const row = db.run(() => selectNextDueAt.get(endpointId))
      return (row?.['nextAt'] ?? null) as number | null
    },
    async nextDueByEndpoint() {
      const found = new Map<string, number>()
      for await (const { endpointId, nextAt } of endpoints.pending()) found.set(endpointId, nextAt)
      return found
    },
    async heldEndpoints() {
      const found: string[] = []
      for await (const { endpointId } of endpoints.held()) found.push(endpointId)
      return found
    },
    async failingSince(endpointId, sinceMs, limit) {
      return readAll(() => selectFailing.all(endpointId, sinceMs, limit))
    },
    async backlog(nowMs) {
      const backlog: DeliveryBacklog = { due: 0, oldestDueAt: null }
      for await (const { endpointId, nextAt } of endpoints.pending()) {
        if (nextAt > nowMs) continue
        backlog.due += Number(db.run(() => countDue.get(endpointId, nowMs))?.['due'])
        backlog.oldestDueAt = Math.min(backlog.oldestDueAt ?? nextAt, nextAt)
      }
      return backlog
    },
  }
}
