import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { withoutExcerpts } from '../../../webhooks/deliveries/delivery.ts'
import type { DeliveryStore } from '../../../webhooks/deliveries/delivery-store.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'
import type { DeliveryEndpoints } from './delivery-endpoints.ts'
import { createReplay } from './delivery-replay.ts'
import { parseAttempts, renderAttempts } from './delivery-row.ts'
import { BATCH, repeatUntilDone, toPending } from './row-batches.ts'

/** Changes of many deliveries at once. */
export type DeliveryTransitions = Pick<
  DeliveryStore,
  | 'limitInstants'
  | 'hold'
  | 'releaseHeld'
  | 'cancel'
  | 'expireHeld'
  | 'replay'
  | 'forgetOrders'
  | 'purge'
  | 'purgeExcerpts'
>

interface AttemptsRow {
  rowid: number
  attempts: string
}

/**
 * The changes of many deliveries. Each is a series of short transactions, so a failure leaves a
 * part unchanged; repeating the call completes it.
 */
export function createDeliveryTransitions(
  db: GuardedDatabase,
  endpoints: DeliveryEndpoints,
): DeliveryTransitions {
  /** Prepares an update of at most a batch of the rows that `source` finds. */
  const prepareUpdate = (changes: string, source: string) =>
    db.prepare(`
      UPDATE deliveries SET ${changes}, revision = revision + 1
      WHERE rowid IN (SELECT rowid FROM ${source} LIMIT ${BATCH})`)
  const pending = "deliveries INDEXED BY deliveries_pending WHERE state = 'pending'"
  const held = "deliveries INDEXED BY deliveries_held WHERE state = 'held'"
  // Last event first, because the dispatcher may send meanwhile and must not find a later event
  // alone. A failing one may be due after those that follow it, so it is held after them.
  const holds = ['AND next_at <= $nowMs AND first_failed_at IS NULL', ''].map((condition) =>
    prepareUpdate(
      "state = 'held', next_at = NULL, held_at = $nowMs",
      `${pending} AND endpoint_id = $endpointId ${condition}
        ORDER BY next_at DESC, recorded_at DESC, sequence DESC`,
    ),
  )
  // An event of the same order that is fanned out later is due at the instant of its record.
  const release = prepareUpdate(
    toPending('min($nowMs, recorded_at)'),
    `${held} AND endpoint_id = $endpointId`,
  )
  const cancels = [pending, held].map((source) =>
    prepareUpdate("state = 'canceled', next_at = NULL", `${source} AND endpoint_id = $endpointId`),
  )
  const expire = prepareUpdate(
    "state = 'expired'",
    "deliveries INDEXED BY deliveries_by_hold WHERE state = 'held' AND held_at < $beforeMs",
  )
  const selectOfOrder = db.prepare(`
    SELECT rowid, attempts FROM deliveries INDEXED BY deliveries_by_order
    WHERE order_id = ? AND account_id = ? AND (recorded_at, sequence) < (?, ?)`)
  const forget = db.prepare(`
    UPDATE deliveries SET
      change = '{}', attempts = ?, excerpt_at = ?, next_at = NULL, revision = revision + 1,
      state = CASE WHEN state IN ('pending', 'held') THEN 'canceled' ELSE state END
    WHERE rowid = ?`)
  const purge = db.prepare(`
    DELETE FROM deliveries WHERE rowid IN (
      SELECT rowid FROM deliveries INDEXED BY deliveries_ended
      WHERE state NOT IN ('pending', 'held') AND recorded_at < $beforeMs LIMIT ${BATCH})`)
  const selectExcerpts = db.prepare(`
    SELECT rowid, attempts FROM deliveries INDEXED BY deliveries_with_excerpt
    WHERE excerpt_at < ? LIMIT ${BATCH}`)
  const setAttempts = db.prepare(
    'UPDATE deliveries SET attempts = ?, excerpt_at = ?, revision = revision + 1 WHERE rowid = ?',
  )

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

  const limitUnfailed = prepareUpdate(
    'next_at = $dueAt',
    `${pending} AND endpoint_id = $endpointId AND next_at > $afterMs AND first_failed_at IS NULL`,
  )

  /** Runs an update until no row is left, and returns the number of changed rows. */
  const runInBatches = (update: StatementSync, parameters: Record<string, SQLInputValue>) =>
    repeatUntilDone(() => db.write(() => Number(update.run(parameters).changes)))

  return {
    async limitInstants(latest) {
      for await (const { endpointId } of endpoints.pending()) {
        await runInBatches(limitUnfailed, { endpointId, ...latest.unfailed })
        for (const { field, update } of limits) {
          await runInBatches(update, { endpointId, latestMs: latest[field] })
        }
      }
    },
    async hold(endpointId, nowMs) {
      let held = 0
      for (const hold of holds) held += await runInBatches(hold, { endpointId, nowMs })
      return held
    },
    releaseHeld: (endpointId, nowMs) => runInBatches(release, { endpointId, nowMs }),
    async cancel(endpointId) {
      for (const cancel of cancels) await runInBatches(cancel, { endpointId })
    },
    async expireHeld(beforeMs) {
      await runInBatches(expire, { beforeMs })
    },
    replay: createReplay(db),
    async forgetOrders(removals) {
      const rest = [...removals]
      await repeatUntilDone(() =>
        db.write(() => {
          const batch = rest.splice(0, BATCH)
          for (const { accountId, orderId, sequence, recordedAt } of batch) {
            const rows = selectOfOrder.all(orderId, accountId, recordedAt, sequence)
            for (const { rowid, attempts } of rows as unknown as AttemptsRow[]) {
              const kept = withoutExcerpts(parseAttempts(attempts), Infinity)
              forget.run(...renderAttempts(kept), rowid)
            }
          }
          return batch.length
        }),
      )
    },
    async purge(beforeMs) {
      await runInBatches(purge, { beforeMs })
    },
    async purgeExcerpts(beforeMs) {
      await repeatUntilDone(() =>
        db.write(() => {
          const rows = selectExcerpts.all(beforeMs) as unknown as AttemptsRow[]
          for (const { rowid, attempts } of rows) {
            const kept = withoutExcerpts(parseAttempts(attempts), beforeMs)
            setAttempts.run(...renderAttempts(kept), rowid)
          }
          return rows.length
        }),
      )
    },
  }
}
