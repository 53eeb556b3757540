import { setTimeout as pause } from 'node:timers/promises'
import { retryUntilDeadline } from '../../../../lib/async/retry-until-deadline.ts'
import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import { type OpenSearch, read } from '../../client/client.ts'
import { IndexMissing } from '../../client/errors.ts'
import { refreshIndices } from '../../client/shards.ts'
import type { IndexNames } from '../../indices/index-names.ts'
import { findMisplacement } from '../../indices/read-alias.ts'
import type { LeaseRecord } from '../../lease-document.ts'
import { revertPartialWrites } from '../revert-partial-writes.ts'
import { createFencedAliases } from './fenced-aliases.ts'

export interface Fence {
  /**
   * Stops every bulk of an earlier epoch, including those in flight: see `fence.md`. Afterwards
   * every target has the documents of the live index, and the first target is the live index. It
   * has the alias of each generation of filters whose columns all its documents have. Returns
   * `false` when the fence waited for an earlier bulk, or reverted a write. A node that left the
   * cluster meanwhile lacks that change, and still has the aliases. It has none of the next epoch.
   * @throws Unavailable when the cluster's state is unknown; a later epoch can succeed
   */
  raise(lease: LeaseRecord): Promise<boolean>
}

export interface FenceOptions {
  client: OpenSearch
  names: IndexNames
  /** For each call, the response body included. */
  deadlineMs: number
  /** Receives the reason of a delay, in words for an operator. */
  onDelay(reason: string): void
}

const POLL_MS = 25
/** Another node responds before this failure in a row. */
const LOGGED_FAILURE = 5
const BULK_ACTIONS = 'indices:data/write/bulk*'

/**
 * Creates the fence of one cluster: swaps the write aliases, then polls the task list every 25 ms.
 */
export function createFence({ client, names, deadlineMs, onDelay }: FenceOptions): Fence {
  const aliases = createFencedAliases({ client, names, deadlineMs, attempt: retryUnknownAlias })

  return {
    async raise({ epoch, targets, version_records: versionRecords = [] }) {
      // A rollback reads the live index, which is no target any more.
      const before = await aliases.readLive()
      const misplacement = await findMisplacement({ client, names, deadlineMs }, before, targets)
      // Reverting the targets to that index would remove or replace all orders.
      if (misplacement !== null) throw new Unavailable(misplacement)
      const readable = new Set([...targets, ...before.filter(names.isVersion)])
      await aliases.swap(epoch, [...readable], versionRecords)
      if (await hasOlderBulks(epoch)) {
        onDelay('waiting for bulks of an earlier epoch to end')
        do await pause(POLL_MS)
        while (await hasOlderBulks(epoch))
        return false
      }
      await refreshIndices(client, deadlineMs, targets)
      const live = await aliases.readLive()
      const [liveIndex = '', ...others] = live
      for (const index of targets.filter((target) => others.length === 0 && target !== liveIndex)) {
        const isReverted = await revertPartialWrites({
          client,
          deadlineMs,
          attempt: retryUnknownAlias,
          liveIndex,
          liveAlias: names.isVersion(liveIndex) ? names.writeAlias(liveIndex, epoch) : liveIndex,
          index,
          alias: names.writeAlias(index, epoch),
          onDelay,
        })
        if (isReverted) return false
      }
      await aliases.makeFirstTargetLive(epoch, targets, live, versionRecords)
      return true
    },
  }

  /** A node that missed the swap knows the aliases once it has joined the cluster again. */
  function retryUnknownAlias<T>(work: () => Promise<T>): Promise<T> {
    const policy = {
      deadlineMs,
      activity: 'reading through the new write aliases',
      onRetry(error: Error, failures: number) {
        if (!(error instanceof IndexMissing)) throw error
        if (failures === LOGGED_FAILURE) onDelay('a node lacks the new write aliases; retrying')
      },
    }
    return retryUntilDeadline(policy, work)
  }

  async function hasOlderBulks(epoch: number): Promise<boolean> {
    const response = await read(deadlineMs, (options) =>
      client.tasks.list({ actions: [BULK_ACTIONS] }, options),
    )
    const { nodes, node_failures, task_failures } = response as TaskList
    if (node_failures?.length || task_failures?.length || nodes === undefined) {
      throw new Unavailable('the task list of OpenSearch is incomplete: a node did not respond')
    }
    const opaqueIds = Object.values(nodes).flatMap(({ tasks }) =>
      Object.values(tasks).map(({ headers }) => headers?.['X-Opaque-Id'] ?? ''),
    )
    const writerPrefix = names.opaqueId('*').slice(0, -1)
    return opaqueIds.some(
      (opaqueId) => opaqueId.startsWith(writerPrefix) && opaqueId !== names.opaqueId(epoch),
    )
  }
}

interface TaskList {
  nodes?: Record<string, { tasks: Record<string, { headers?: Record<string, string> }> }>
  node_failures?: unknown[]
  task_failures?: unknown[]
}
