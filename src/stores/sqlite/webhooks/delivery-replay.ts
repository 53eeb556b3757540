import type { StatementSync } from 'node:sqlite'
import { isReplayed, type Replay } from '../../../webhooks/deliveries/delivery.ts'
import type { DeliveryStore } from '../../../webhooks/deliveries/delivery-store.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'
import { type DeliveryRow, parseAttempts } from './delivery-row.ts'
import { BATCH, repeatUntilDone, toPending } from './row-batches.ts'

type EndedRow = { rowid: number } & Pick<
  DeliveryRow,
  'state' | 'recorded_at' | 'sequence' | 'attempts' | 'first_failed_at' | 'held_at'
>

/** The instants of the events that a walk visits. */
interface Walk {
  fromMs: number
  beforeMs: number
}

/** Creates the replay of a delivery store: walks over the ended rows of an endpoint, in batches. */
export function createReplay(db: GuardedDatabase): DeliveryStore['replay'] {
  const prepareEnded = (source: string) =>
    db.prepare(`
      SELECT rowid, state, recorded_at, sequence, attempts, first_failed_at, held_at
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

  /** Repeats what the replay includes of the rows of a walk. Returns their number. */
  async function replayRows(
    select: StatementSync,
    replay: Replay,
    { fromMs, beforeMs }: Walk,
  ): Promise<number> {
    const { endpointId, nowMs } = replay
    let after: [number, number, number] = [fromMs, -1, 0]
    let replayed = 0
    await repeatUntilDone(() =>
      db.write(() => {
        const rows = select.all(endpointId, beforeMs, ...after) as unknown as EndedRow[]
        const included = rows.filter((row) => isReplayed(endedOf(row), replay))
        for (const { rowid } of included) repeat.run({ nowMs, rowid })
        replayed += included.length
        const last = rows.at(-1)
        if (last) after = [last.recorded_at, last.sequence, last.rowid]
        return rows.length
      }),
    )
    return replayed
  }

  return async (replay) => {
    const { sinceMs, failedOnly } = replay
    const earlier = await replayRows(selectFailed, replay, { fromMs: 0, beforeMs: sinceMs })
    // One scan over all states, so that the events of an order become pending in turn. A row that
    // is sent between two batches is not found again.
    const since = { fromMs: sinceMs, beforeMs: Number.MAX_SAFE_INTEGER }
    return earlier + (await replayRows(failedOnly ? selectFailed : selectEnded, replay, since))
  }
}

const endedOf = (row: EndedRow) => ({
  state: row.state,
  event: { recordedAt: row.recorded_at },
  attempts: parseAttempts(row.attempts),
  firstFailedAt: row.first_failed_at,
  heldAt: row.held_at,
})
