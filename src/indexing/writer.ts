import type { Clock } from '../lib/clock.ts'
import type { Change } from './change.ts'
import { decide, type Verdict, verdictByHead, viewKeys, type WriteMode } from './decide.ts'
import type { BulkWrites, OrderIndex } from './order-index.ts'

export interface Writer {
  /**
   * Writes one bulk of changes, each of another order, and tells what became of each, in their order.
   * When it throws, all of them may be handed in again: a version that was written counts as older then.
   */
  write(changes: readonly Change[], mode: WriteMode): Promise<Verdict[]>
}

/** Brings changes into the index: project → compare → write. `clock`: epoch milliseconds. */
export function createWriter(index: OrderIndex, clock: Clock): Writer {
  return {
    write: (changes, mode) =>
      index.bulk(async (bulk) => {
        const heads = await bulk.heads(changes.map(({ orderId }) => orderId))
        const early = new Map(
          changes.map((change) => {
            return [change, verdictByHead(change, heads.get(change.orderId), mode, clock())]
          }),
        )
        const passed = changes.filter((change) => early.get(change) === undefined)
        const stored = await bulk.views(
          passed.flatMap(({ orderId }) => viewKeys(heads.get(orderId))),
        )
        const storedOf = Map.groupBy(stored, ({ orderId }) => orderId)

        const decisions = new Map(
          passed.map((change) => {
            const { orderId } = change
            const views = storedOf.get(orderId) ?? []
            return [change, decide(change, heads.get(orderId), views, mode)]
          }),
        )
        await bulk.write(together([...decisions.values()]))
        return changes.map((change) => early.get(change) ?? outcome(decisions.get(change)))
      }),
  }
}

function together(decisions: readonly BulkWrites[]): BulkWrites {
  return {
    views: decisions.flatMap(({ views }) => views),
    removals: decisions.flatMap(({ removals }) => removals),
    heads: decisions.flatMap(({ heads }) => heads),
  }
}

function outcome(decision: BulkWrites | undefined): Verdict {
  return decision && decision.views.length + decision.removals.length > 0 ? 'written' : 'unchanged'
}
