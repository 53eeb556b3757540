import type { StatementSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import {
  type DeliveryStore,
  isReplayed,
  type Replay,
  withoutExcerpts,
} from '../../../webhooks/deliveries/delivery.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'
import type { DeliveryEndpoints } from './delivery-endpoints.ts'
import { type DeliveryRow, parseAttempts, renderAttempts } from './delivery-row.ts'

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

/** The number of rows of a transaction: a few milliseconds of the event loop and the write lock. */
const BATCH = 500
/** Between transactions, so that other requests run and other processes get the lock. */
const PAUSE_MS = 5

/** Repeats a transaction while it finds a full batch of rows. Returns the number of all rows. */
async function repeatUntilDone(change: () => number): Promise<number> {
  for (let total = 0; ; await setTimeout(PAUSE_MS)) {
    const changed = change()
    total += changed
    if (changed < BATCH) return total
  }
}

const toPending = (nextAt: string) => `
  state = 'pending', next_at = ${nextAt}, step = 0, first_failed_at = NULL, held_at = NULL`

interface AttemptsRow {
  rowid: number
  attempts: string
}

type EndedRow = AttemptsRow &
  Pick<DeliveryRow, 'state' | 'recorded_at' | 'sequence' | 'first_failed_at' | 'held_at'>

/** The instants of the events that a walk visits. */
interface Walk {
  fromMs: number
  beforeMs: number
}

/**
 * The changes of many deliveries. Each is a series of short transactions, so a failure leaves a part
 * unchanged; repeating the call completes it.
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
  // Last event first, because the dispatcher may send meanwhile and must not find a later event alone.
  // A failing one may be due after those that follow it, so it is held after them.
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
  const prepareEnded = (source: string) =>
    db.prepare(`
      SELECT rowid, state, recorded_at, sequence, first_failed_at, held_at,
        CASE state WHEN 'failed' THEN attempts ELSE '[]' END AS attempts
      FROM ${source} AND endpoint_id = ? AND recorded_at < ?
        AND (recorded_at, sequence, rowid) > (?, ?, ?)
      ORDER BY recorded_at, sequence, rowid LIMIT ${BATCH}`)
  const selectFailed = prepareEnded(
    "deliveries INDEXED BY deliveries_failed WHERE state IN ('failed', 'expired')",
  )
  const selectEnded = prepareEnded(
    "deliveries INDEXED BY deliveries_by_event WHERE state IN ('delivered', 'failed', 'expired')",
  )
  const repeat = db.prepare(
    `UPDATE deliveries SET ${toPending('$nowMs')}, revision = revision + 1 WHERE rowid = $rowid`,
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
      WHERE state NOT IN ('pending', 'held') AND recorded_at < ? LIMIT ${BATCH})`)
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

  /** Repeats what the replay includes of the rows of a walk. Returns their number. */
  async function replayRows(
    select: StatementSync,
    { endpointId, sinceMs, nowMs }: Replay,
    { fromMs, beforeMs }: Walk,
  ): Promise<number> {
    let after: [number, number, number] = [fromMs, -1, 0]
    let replayed = 0
    await repeatUntilDone(() =>
      db.write(() => {
        const rows = select.all(endpointId, beforeMs, ...after) as unknown as EndedRow[]
        const included = rows.filter((row) => isReplayed(endedOf(row), sinceMs))
        for (const { rowid } of included) repeat.run({ nowMs, rowid })
        replayed += included.length
        const last = rows.at(-1)
        if (last) after = [last.recorded_at, last.sequence, last.rowid]
        return rows.length
      }),
    )
    return replayed
  }

  return {
    async limitInstants(latest) {
      for await (const { endpointId } of endpoints.pending()) {
        for (const { field, update } of limits) {
          const parameters = { endpointId, latestMs: latest[field] }
          await repeatUntilDone(() => db.write(() => Number(update.run(parameters).changes)))
        }
      }
    },
    async hold(endpointId, nowMs) {
      let held = 0
      for (const hold of holds)
        held += await repeatUntilDone(() =>
          db.write(() => Number(hold.run({ endpointId, nowMs }).changes)),
        )
      return held
    },
    releaseHeld: (endpointId, nowMs) =>
      repeatUntilDone(() => db.write(() => Number(release.run({ endpointId, nowMs }).changes))),
    async cancel(endpointId) {
      for (const cancel of cancels)
        await repeatUntilDone(() => db.write(() => Number(cancel.run({ endpointId }).changes)))
    },
    async expireHeld(beforeMs) {
      await repeatUntilDone(() => db.write(() => Number(expire.run({ beforeMs }).changes)))
    },
    async replay(replay) {
      const { sinceMs, failedOnly } = replay
      const earlier = await replayRows(selectFailed, replay, { fromMs: 0, beforeMs: sinceMs })
      // One walk over all states: a row that is sent between two batches is not found again, and
      // the events of an order become pending in turn.
      const since = { fromMs: sinceMs, beforeMs: Number.MAX_SAFE_INTEGER }
      return earlier + (await replayRows(failedOnly ? selectFailed : selectEnded, replay, since))
    },
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
      await repeatUntilDone(() => db.write(() => Number(purge.run(beforeMs).changes)))
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

const endedOf = (row: EndedRow) => ({
  state: row.state,
  event: { recordedAt: row.recorded_at },
  attempts: parseAttempts(row.attempts),
  firstFailedAt: row.first_failed_at,
  heldAt: row.held_at,
})
