import type { StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import type { GuardedDatabase } from '../database/guarded-database.ts'

/** The endpoints that have deliveries of a state. */
export interface DeliveryEndpoints {
  /** `nextAt`: of the first pending delivery. */
  pending(): AsyncGenerator<PendingEndpoint>
  held(): AsyncGenerator<{ endpointId: string }>
}

export interface PendingEndpoint {
  endpointId: string
  nextAt: number
}

/** How many endpoints are visited before other work runs. */
const ENDPOINTS_AT_ONCE = 100

/** Prepares the reads of {@link DeliveryEndpoints}. */
export function prepareDeliveryEndpoints(db: GuardedDatabase): DeliveryEndpoints {
  const selectNextPending = db.prepare(`
    SELECT endpoint_id AS endpointId, next_at AS nextAt
    FROM deliveries INDEXED BY deliveries_pending
    WHERE state = 'pending' AND endpoint_id > ? ORDER BY endpoint_id, next_at LIMIT 1`)
  const selectNextHeld = db.prepare(`
    SELECT endpoint_id AS endpointId FROM deliveries INDEXED BY deliveries_held
    WHERE state = 'held' AND endpoint_id > ? ORDER BY endpoint_id LIMIT 1`)

  /** The rows of a statement that returns the next endpoint: one index look-up for each. */
  async function* rowsOf<T extends { endpointId: string }>(
    selectNext: StatementSync,
  ): AsyncGenerator<T> {
    for (let last = '', count = 1; ; count += 1) {
      const row = db.run(() => selectNext.get(last)) as unknown as T | undefined
      if (!row) return
      last = row.endpointId
      yield row
      if (count % ENDPOINTS_AT_ONCE === 0) await setImmediate()
    }
  }

  return {
    pending: () => rowsOf<PendingEndpoint>(selectNextPending),
    held: () => rowsOf(selectNextHeld),
  }
}
