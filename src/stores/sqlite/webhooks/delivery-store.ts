import type { StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import {
  type Delivery,
  type DeliveryBacklog,
  type DeliveryStore,
  deliveryStates,
  FAILED_STATES,
  type StoredDelivery,
} from '../../../webhooks/deliveries/delivery.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryOf, renderAttempts } from './delivery-row.ts'
import { BATCH, createDeliveryTransitions, repeatUntilDone } from './delivery-transitions.ts'

/**
 * Inserts deliveries that do not exist, within a transaction of the caller. Returns them as stored,
 * `null` in place of one that existed.
 */
export type InsertDeliveries = (deliveries: readonly Delivery[]) => (StoredDelivery | null)[]

const FIRST_REVISION = 1

/** An endpoint with deliveries; `nextAt` of the first pending one. */
interface EndpointRow {
  endpointId: string
  nextAt?: number
}

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
        delivery.state,
        delivery.nextAt,
        ...renderAttempts(delivery.attempts),
        delivery.step,
        delivery.firstFailedAt,
        delivery.heldAt,
      )
      return changes === 0 ? null : { ...delivery, revision: FIRST_REVISION }
    })
}

/** How many endpoints are visited before other work runs. */
const ENDPOINTS_AT_ONCE = 100

/** Before every delivery. Ids of rows need no look-up, since no event is that late. */
const FIRST = { recordedAt: Number.MAX_SAFE_INTEGER, sequence: 0, id: '' }

/**
 * Deliveries in an embedded database. Each statement names its index, because the planner knows
 * nothing of the sizes of the partial ones.
 */
export function createSqliteDeliveryStore(
  db: GuardedDatabase,
  insert: InsertDeliveries,
): DeliveryStore {
  const selectById = db.prepare(`SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE id = ?`)
  const [selectList, selectFailures] = [
    'deliveries INDEXED BY deliveries_by_event WHERE',
    "deliveries INDEXED BY deliveries_failed WHERE state IN ('failed', 'expired') AND",
  ].map((source) =>
    db.prepare(`
      SELECT ${DELIVERY_COLUMNS} FROM ${source} endpoint_id = ?
        AND state IN (SELECT value FROM json_each(?))
        AND (recorded_at, sequence, rowid) < (?, ?, (SELECT rowid FROM deliveries WHERE id = ?))
      ORDER BY recorded_at DESC, sequence DESC, rowid DESC LIMIT ?`),
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
  const selectNextEndpoint = db.prepare(`
    SELECT endpoint_id AS endpointId, next_at AS nextAt
    FROM deliveries INDEXED BY deliveries_pending
    WHERE state = 'pending' AND endpoint_id > ? ORDER BY endpoint_id, next_at LIMIT 1`)
  const selectNextHeld = db.prepare(`
    SELECT endpoint_id AS endpointId FROM deliveries INDEXED BY deliveries_held
    WHERE state = 'held' AND endpoint_id > ? ORDER BY endpoint_id LIMIT 1`)
  const selectFailing = db.prepare(`
    SELECT ${DELIVERY_COLUMNS} FROM deliveries INDEXED BY deliveries_failing
    WHERE state = 'pending' AND endpoint_id = ? AND first_failed_at >= ?
    ORDER BY first_failed_at LIMIT ?`)
  const countDue = db.prepare(`
    SELECT count(*) AS due FROM deliveries INDEXED BY deliveries_pending
    WHERE state = 'pending' AND endpoint_id = ? AND next_at <= ?`)
  const update = db.prepare(`
    UPDATE deliveries SET
      state = ?, next_at = ?, attempts = ?, excerpt_at = ?, step = ?, first_failed_at = ?,
      held_at = ?, revision = revision + 1
    WHERE id = ? AND revision = ?`)

  const limits = (
    [
      ['nextAt', 'next_at', 'deliveries_pending'],
      ['firstFailedAt', 'first_failed_at', 'deliveries_failing'],
    ] as const
  ).map(([field, column, index]) => {
    const update = db.prepare(`
      UPDATE deliveries SET ${column} = $latestMs, revision = revision + 1
      WHERE rowid IN (
        SELECT rowid FROM deliveries INDEXED BY ${index}
        WHERE state = 'pending' AND endpoint_id = $endpointId AND ${column} > $latestMs
        LIMIT ${BATCH})`)
    return { field, update }
  })

  const readAll = (work: () => unknown) =>
    (db.run(work) as unknown as DeliveryRow[]).map(deliveryOf)

  /** The rows of a statement that returns the next endpoint: one index look-up for each. */
  async function* byEndpoint(selectNext: StatementSync): AsyncGenerator<EndpointRow> {
    for (let last = '', count = 1; ; count += 1) {
      const row = db.run(() => selectNext.get(last)) as unknown as EndpointRow | undefined
      if (!row) return
      last = row.endpointId
      yield row
      if (count % ENDPOINTS_AT_ONCE === 0) await setImmediate()
    }
  }

  /** Endpoints with pending deliveries, with the first instant. */
  async function* pendingEndpoints(): AsyncGenerator<[endpointId: string, nextAt: number]> {
    for await (const { endpointId, nextAt = 0 } of byEndpoint(selectNextEndpoint)) {
      yield [endpointId, nextAt]
    }
  }

  function find(id: string): StoredDelivery | null {
    const row = selectById.get(id) as unknown as DeliveryRow | undefined
    return row ? deliveryOf(row) : null
  }

  function replace(delivery: StoredDelivery): StoredDelivery | null {
    const { id, revision } = delivery
    const { changes } = update.run(
      delivery.state,
      delivery.nextAt,
      ...renderAttempts(delivery.attempts),
      delivery.step,
      delivery.firstFailedAt,
      delivery.heldAt,
      id,
      Number(revision),
    )
    return changes === 1 ? { ...delivery, revision: Number(revision) + 1 } : null
  }

  return {
    ...createDeliveryTransitions(db),
    async create(deliveries) {
      return deliveries.length > 0 ? db.write(() => insert(deliveries)) : []
    },
    byId: async (id) => db.run(() => find(id)),
    byIds: async (ids) => db.run(() => ids.map(find)),
    async list({ endpointId, states = deliveryStates, limit, after = FIRST }) {
      const select = states.every((state) => FAILED_STATES.includes(state))
        ? selectFailures
        : selectList
      const { recordedAt, sequence, id } = after
      return readAll(() =>
        select?.all(endpointId, JSON.stringify(states), recordedAt, sequence, id, limit),
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
      for await (const [endpointId, nextAt] of pendingEndpoints()) found.set(endpointId, nextAt)
      return found
    },
    async heldEndpoints() {
      const found: string[] = []
      for await (const { endpointId } of byEndpoint(selectNextHeld)) found.push(endpointId)
      return found
    },
    async failingSince(endpointId, sinceMs, limit) {
      return readAll(() => selectFailing.all(endpointId, sinceMs, limit))
    },
    async save(deliveries) {
      return deliveries.length === 0 ? [] : db.write(() => deliveries.map(replace))
    },
    async limitInstants(latest) {
      for await (const [endpointId] of pendingEndpoints()) {
        for (const { field, update } of limits) {
          const parameters = { endpointId, latestMs: latest[field] }
          await repeatUntilDone(() => db.run(() => Number(update.run(parameters).changes)))
        }
      }
    },
    async backlog(nowMs) {
      const backlog: DeliveryBacklog = { due: 0, oldestDueAt: null }
      for await (const [endpointId, nextAt] of pendingEndpoints()) {
        if (nextAt > nowMs) continue
        backlog.due += Number(db.run(() => countDue.get(endpointId, nowMs))?.['due'])
        backlog.oldestDueAt = Math.min(backlog.oldestDueAt ?? nextAt, nextAt)
      }
      return backlog
    },
  }
}
