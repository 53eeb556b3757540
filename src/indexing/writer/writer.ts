import type { Clock } from '../../lib/clock.ts'
import type { Change } from '../projection/change.ts'
import {
  checkDocuments,
  checkVersion,
  decide,
  type EqualVersionPolicy,
  viewKeys,
  type WriteMode,
  type WriteResult,
} from './decide.ts'
import {
  type BulkWrites,
  DocumentRejectedError,
  type IndexReader,
  type OrderIndex,
} from './order-index.ts'

export interface Writer {
  /**
   * Writes one bulk of changes, each of another order, and tells what became of each, in their order.
   * When it throws, all of them may be handed in again: a version that was written counts as older then.
   */
  write(changes: readonly Change[], mode: WriteMode): Promise<WriteResult[]>
}

/** How a writer takes what it is given. */
export interface WriterOptions {
  /** What a version does that is there already; `drop` when absent. */
  equalVersions?: EqualVersionPolicy
}

/** Brings changes into the index: project → compare → write. `clock`: epoch milliseconds. */
export function createWriter(
  index: Pick<OrderIndex, 'bulk'>,
  clock: Clock,
  { equalVersions: policy = 'drop' }: WriterOptions = {},
): Writer {
  return {
    async write(changes, mode) {
      const results = new Map<Change, WriteResult>()
      const rejected = new Map<string, WriteResult>()
      const bulk = async (reader: IndexReader) => {
        const records = await reader.versionRecords(changes.map(({ orderId }) => orderId))
        const nowMs = clock()
        const earlyResults = new Map(
          changes.map((change) => {
            const { orderId } = change
            const byVersion = checkVersion(change, records.get(orderId), mode, nowMs, policy)
            return [change, rejected.get(orderId) ?? byVersion]
          }),
        )
        const accepted = changes.filter((change) => earlyResults.get(change) === undefined)
        const acceptedIds = accepted.map(({ orderId }) => orderId)
        const candidates = await (policy === 'repair'
          ? reader.scan(acceptedIds)
          : reader.orphans(acceptedIds))
        const candidatesOf = Map.groupBy(candidates, ({ orderId }) => orderId)
        const keys = accepted.flatMap(({ orderId }) =>
          viewKeys(orderId, records.get(orderId), candidatesOf.get(orderId) ?? []),
        )
        const views = await reader.views(keys)
        const viewsOf = Map.groupBy(views, ({ orderId }) => orderId)

        const decisions = new Map<Change, BulkWrites>()
        for (const change of accepted) {
          const record = records.get(change.orderId)
          const documents = viewsOf.get(change.orderId) ?? []
          const decision = decide(change, record, documents, mode, policy)
          const result = checkDocuments(change, record, documents, decision, policy)
          if (result !== undefined) earlyResults.set(change, result)
          else decisions.set(change, decision)
        }
        for (const change of changes) {
          const result = earlyResults.get(change) ?? resultOf(decisions.get(change))
          // Asked again, a change finds what the first attempt wrote of it: that counts as written.
          const isFinal = result === 'written' || rejected.has(change.orderId)
          if (isFinal || !results.has(change)) results.set(change, result)
        }
        return mergeDecisions([...decisions.values()])
      }
      for (;;) {
        try {
          await index.bulk(bulk, mode)
          return [...results.values()]
        } catch (error) {
          if (!(error instanceof DocumentRejectedError) || rejected.has(error.orderId)) throw error
          rejected.set(error.orderId, { path: '', reason: error.message })
        }
      }
    },
  }
}

/** One bulk of all decisions. By id within an account: a reader may be shown any beginning of the bulk. */
function mergeDecisions(decisions: readonly BulkWrites[]): BulkWrites {
  const views = decisions.flatMap(({ views }) => views)
  return {
    views: views.sort((one, other) => (one.orderId < other.orderId ? -1 : 1)),
    removals: decisions.flatMap(({ removals }) => removals),
    versionRecords: decisions.flatMap(({ versionRecords }) => versionRecords),
  }
}

function resultOf(decision: BulkWrites | undefined): WriteResult {
  return decision && decision.views.length + decision.removals.length > 0 ? 'written' : 'unchanged'
}
