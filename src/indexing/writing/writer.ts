import type { Clock } from '../../lib/clock.ts'
import type { Change } from '../projection/change.ts'
import {
  decide,
  type EqualVersions,
  type Verdict,
  verdictByDocuments,
  verdictByHead,
  viewKeys,
  type WriteMode,
} from './decide.ts'
import { type BulkWrites, DocumentRefused, type OrderIndex, type Stored } from './order-index.ts'

export interface Writer {
  /**
   * Writes one bulk of changes, each of another order, and tells what became of each, in their order.
   * When it throws, all of them may be handed in again: a version that was written counts as older then.
   */
  write(changes: readonly Change[], mode: WriteMode): Promise<Verdict[]>
}

/** How a writer takes what it is given. */
export interface WriterOptions {
  /** What a version does that is there already; `drop` when absent. */
  equalVersions?: EqualVersions
}

/** Brings changes into the index: project → compare → write. `clock`: epoch milliseconds. */
export function createWriter(
  index: Pick<OrderIndex, 'bulk'>,
  clock: Clock,
  { equalVersions: equal = 'drop' }: WriterOptions = {},
): Writer {
  return {
    async write(changes, mode) {
      const verdicts = new Map<Change, Verdict>()
      const refused = new Map<string, Verdict>()
      const bulk = async (stored: Stored) => {
        const heads = await stored.heads(changes.map(({ orderId }) => orderId))
        const nowMs = clock()
        const early = new Map(
          changes.map((change) => {
            const { orderId } = change
            const byHead = verdictByHead(change, heads.get(orderId), mode, nowMs, equal)
            return [change, refused.get(orderId) ?? byHead]
          }),
        )
        const passed = changes.filter((change) => early.get(change) === undefined)
        const passedIds = passed.map(({ orderId }) => orderId)
        const found = await (equal === 'repair' ? stored.scan(passedIds) : stored.strays(passedIds))
        const foundOf = Map.groupBy(found, ({ orderId }) => orderId)
        const keys = passed.flatMap(({ orderId }) =>
          viewKeys(orderId, heads.get(orderId), foundOf.get(orderId) ?? []),
        )
        const views = await stored.views(keys)
        const viewsOf = Map.groupBy(views, ({ orderId }) => orderId)

        const decisions = new Map<Change, BulkWrites>()
        for (const change of passed) {
          const head = heads.get(change.orderId)
          const documents = viewsOf.get(change.orderId) ?? []
          const decided = decide(change, head, documents, mode, equal)
          const verdict = verdictByDocuments(change, head, documents, decided, equal)
          if (verdict !== undefined) early.set(change, verdict)
          else decisions.set(change, decided)
        }
        for (const change of changes) {
          const verdict = early.get(change) ?? outcome(decisions.get(change))
          // Asked again, a change finds what the first attempt wrote of it: that counts as written.
          const isNews = verdict === 'written' || refused.has(change.orderId)
          if (isNews || !verdicts.has(change)) verdicts.set(change, verdict)
        }
        return together([...decisions.values()])
      }
      for (;;) {
        try {
          await index.bulk(bulk, mode)
          return [...verdicts.values()]
        } catch (error) {
          if (!(error instanceof DocumentRefused) || refused.has(error.orderId)) throw error
          refused.set(error.orderId, { path: '', reason: error.message })
        }
      }
    },
  }
}

/** One bulk of all decisions. By id within an account: a reader may be shown any beginning of the bulk. */
function together(decisions: readonly BulkWrites[]): BulkWrites {
  const views = decisions.flatMap(({ views }) => views)
  return {
    views: views.sort((one, other) => (one.orderId < other.orderId ? -1 : 1)),
    removals: decisions.flatMap(({ removals }) => removals),
    heads: decisions.flatMap(({ heads }) => heads),
  }
}

function outcome(decision: BulkWrites | undefined): Verdict {
  return decision && decision.views.length + decision.removals.length > 0 ? 'written' : 'unchanged'
}
