import { setTimeout as pause } from 'node:timers/promises'
import type { FindSubscribers, OrderLock } from '../../../indexing/writer/order-index.ts'
import { createRetryBudget, type RetryBudget } from '../../../lib/async/retry-until-deadline.ts'
import { MINUTE_MS } from '../../../lib/durations.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import type { OpenSearch } from '../client/client.ts'
import { IndexMissing } from '../client/errors.ts'
import type { Committer } from './committer.ts'
import { createIndexReader } from './index-reader.ts'
import {
  createOptimisticConcurrency,
  type OptimisticConcurrency,
} from './optimistic-concurrency.ts'
import type { ReadTargets } from './read-targets.ts'
import { StaleReadError, type WrittenStates } from './written-states.ts'

export interface TransactionsOptions {
  client: OpenSearch
  committer: Committer
  targets: ReadTargets
  written: Pick<WrittenStates, 'assertCurrent'>
  subscribers: FindSubscribers
  /** For each request, the response body included. */
  deadlineMs: number
  /** Receives the reason of a delay, in words for an operator. */
  onDelay(reason: string): void
  /** Ends the wait for OpenSearch. */
  signal?: AbortSignal | undefined
}

/** Longer than a cluster needs to remove an unresponsive node. */
const RETRY_DEADLINE_MS = 5 * MINUTE_MS
/**
 * A node that missed the last fence does not know its aliases. Once this many reads in a row find
 * none, another writer may have removed them. The next fence detects that.
 */
const MISSING_ALIASES = 3
const ANOTHER_NODE_MS = 20

/**
 * The transactions under one lock. Reads are repeated in place; a commit of unknown outcome is
 * fenced and needs a new transaction. See `lease/fence.md` for the reads.
 */
export function createTransactions(options: TransactionsOptions): Pick<OrderLock, 'begin'> {
  const { client, committer, targets, written, deadlineMs, onDelay, signal } = options
  let budget = createBudget()

  async function repeat<T>(work: (readAtFence: number) => Promise<T>): Promise<T> {
    for (let missing = 1; ; ) {
      const readAtFence = await committer.fenceBeforeReads().catch(backOff)
      if (readAtFence === undefined) continue
      try {
        return await work(readAtFence)
      } catch (error) {
        if (error instanceof IndexMissing) {
          if (await committer.isOvertaken(readAtFence)) continue
          if (missing++ < MISSING_ALIASES) {
            await pause(ANOTHER_NODE_MS)
            continue
          }
          committer.requireFence()
        } else if (error instanceof StaleReadError) committer.requireFence()
        missing = 1
        await backOff(error)
      }
    }
  }

  async function backOff(error: unknown): Promise<void> {
    if (!(error instanceof Unavailable)) throw error
    await budget.backOff(error)
  }

  function createBudget(): RetryBudget {
    return createRetryBudget({
      deadlineMs: RETRY_DEADLINE_MS,
      activity: 'OpenSearch was unavailable for writes',
      signal,
      onRetry: ({ message }) => onDelay(`${message}; retrying`),
    })
  }

  /** Rejects a document that is outdated, and records the states of version records. */
  const currentStates = (
    states: OptimisticConcurrency,
  ): Pick<OptimisticConcurrency, 'recordState'> => ({
    recordState(target, id, state) {
      written.assertCurrent(targets.index(target), id, state)
      states.recordState(target, id, state)
    },
  })

  return {
    async begin() {
      const readAtFence = await repeat(async (fence) => fence)
      const states = createOptimisticConcurrency()
      const reader = createIndexReader({
        client,
        indexOf: targets.alias,
        states: currentStates(states),
        deadlineMs,
      })
      return {
        versionRecords: (orderIds) => repeat(() => reader.versionRecords(orderIds)),
        orphans: (orderIds) => repeat(() => reader.orphans(orderIds)),
        scan: (orderIds) => repeat(() => reader.scan(orderIds)),
        views: (keys) => repeat(() => reader.views(keys)),
        eventRecords: (keys) => repeat(() => reader.eventRecords(keys)),
        subscribers: () => repeat(options.subscribers),
        async commit(writes, mode) {
          try {
            const isCommitted = await committer.commit(writes, states, readAtFence, mode)
            budget = createBudget() // A lock may be held for many bulks.
            return isCommitted
          } catch (error) {
            await backOff(error)
            return false
          }
        },
      }
    },
  }
}
