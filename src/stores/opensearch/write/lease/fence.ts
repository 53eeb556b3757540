import { setTimeout as pause } from 'node:timers/promises'
import { retryUntilDeadline } from '../../../../lib/async/retry-until-deadline.ts'
import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import {
  type FilterGeneration,
  filterGenerations,
} from '../../../../orders/filters/filter-generations.ts'
import { existingIndices, readAliases } from '../../client/aliases.ts'
import { type OpenSearch, read, write } from '../../client/client.ts'
import { TOMBSTONES } from '../../client/documents/tombstone.ts'
import { IndexMissing, isRejectedWith, NOT_FOUND } from '../../client/errors.ts'
import { countDocuments, refreshIndices } from '../../client/shards.ts'
import { concreteIndex, type IndexNames } from '../../indices/index-names.ts'
import { findMisplacement } from '../../indices/read-alias.ts'
import { readVersionRecordIndices } from '../../indices/version-record-index.ts'
import type { LeaseRecord } from '../../lease-document.ts'
import { revertPartialWrites } from '../revert-partial-writes.ts'

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
  return {
    async raise({ epoch, targets, version_records: versionRecords = [] }) {
      // A rollback reads the live index, which is no target any more.
      const before = await readLiveIndices()
      const misplacement = await findMisplacement({ client, names, deadlineMs }, before, targets)
      // Reverting the targets to that index would remove or replace all orders.
      if (misplacement !== null) throw new Unavailable(misplacement)
      const readable = new Set([...targets, ...before.filter(names.isVersion)])
      await swapAliases(epoch, [...readable], versionRecords)
      if (await hasOlderBulks(epoch)) {
        onDelay('waiting for bulks of an earlier epoch to end')
        do await pause(POLL_MS)
        while (await hasOlderBulks(epoch))
        return false
      }
      await refreshIndices(client, deadlineMs, targets)
      const live = await readLiveIndices()
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
      await makeFirstTargetLive(epoch, targets, live, versionRecords)
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

  async function readLiveIndices(): Promise<string[]> {
    const live = Object.keys(await readAliases(client, deadlineMs, [names.orders]))
    // A fence that moved the alias to another index would hide the loss of the live one.
    if (live.length === 0) throw new Unavailable('no index has the alias of the orders')
    return live
  }

  /** No bulk runs and everything is refreshed, so readers see no difference. */
  async function makeFirstTargetLive(
    epoch: number,
    [index = '']: readonly string[],
    live: readonly string[],
    versionRecords: readonly string[],
  ): Promise<void> {
    const alias = names.writeAlias(index, epoch)
    const changes = [
      ...moveAlias(names.orders, live, [index]),
      ...(await moveFilterAliases(index, alias)),
      ...(await moveVersionRecords(versionRecords)),
    ]
    if (changes.length === 0) return
    const writeAlias = { index, alias }
    await updateAliases([
      { remove: { ...writeAlias, must_exist: true } }, // Fails for a writer of an earlier epoch.
      { add: { ...writeAlias, is_write_index: true } },
      ...changes,
    ])
  }

  async function moveFilterAliases(index: string, writeAlias: string): Promise<object[]> {
    const changes: object[] = []
    for (const generation of filterGenerations) {
      const query = lacksColumns(generation)
      const lacking = await retryUnknownAlias(() =>
        countDocuments(client, deadlineMs, writeAlias, { query, terminate_after: 1 }),
      )
      const alias = names.filterAlias(generation)
      const current = Object.keys(await readAliases(client, deadlineMs, [alias]))
      changes.push(...moveAlias(alias, current, lacking === 0 ? [index] : []))
    }
    return changes
  }

  /** Version records are read by id only, so the new index needs no refresh. */
  async function moveVersionRecords([index]: readonly string[]): Promise<object[]> {
    if (index === undefined) return []
    const current = await readVersionRecordIndices(client, names, deadlineMs)
    return moveAlias(names.versionRecords, current, [index])
  }

  async function swapAliases(
    epoch: number,
    targets: readonly string[],
    versionRecords: readonly string[],
  ): Promise<void> {
    const records = [
      concreteIndex(names.eventRecords, 1),
      ...(versionRecords.length > 0 ? versionRecords : [concreteIndex(names.versionRecords, 1)]),
    ]
    const aliases = await readAliases(client, deadlineMs, names.writeAliases)
    await updateAliases([
      ...Object.entries(aliases).flatMap(([index, { aliases }]) =>
        // `must_exist` fails the whole swap when another writer changed the aliases since the read.
        Object.keys(aliases).map((alias) => ({ remove: { index, alias, must_exist: true } })),
      ),
      ...[...targets, ...records].map((index) => ({
        add: { index, alias: names.writeAlias(index, epoch), is_write_index: true },
      })),
    ]).catch((error) => nameMissingTarget(error, targets))
  }

  /** Such as after a restore of a lease from before the end of a reindex. */
  async function nameMissingTarget(error: unknown, targets: readonly string[]): Promise<never> {
    if (!(error instanceof IndexMissing)) throw error
    const existing = await existingIndices(client, deadlineMs, targets)
    const missing = targets.find((index) => !existing.includes(index))
    if (missing === undefined) throw error
    throw new IndexMissing(
      `a write target is missing: "index reindex --finish" or "--rollback" removes it from the lease: no such index [${missing}]`,
    )
  }

  async function updateAliases(actions: object[]): Promise<void> {
    const { acknowledged } = await write(deadlineMs, (options) =>
      client.indices.updateAliases({ body: { actions: actions as [] } }, options),
    ).catch(throwAliasConflict)
    if (!acknowledged)
      throw new Unavailable('a node of OpenSearch did not acknowledge the new write aliases')
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

/** Matches the documents of releases before a generation. */
const lacksColumns = ({ marker }: FilterGeneration) => ({
  bool: { must_not: [TOMBSTONES, { exists: { field: marker } }] },
})

/** The changes of an alias that is on the indices `from` and must be on `to`. */
function moveAlias(alias: string, from: readonly string[], to: readonly string[]): object[] {
  const removed = from.filter((index) => !to.includes(index))
  const added = to.filter((index) => !from.includes(index))
  return [
    ...removed.map((index) => ({ remove: { index, alias } })),
    ...added.map((index) => ({ add: { index, alias } })),
  ]
}

function throwAliasConflict(error: unknown): never {
  if (!isRejectedWith(error, NOT_FOUND)) throw error
  throw new Unavailable('the write aliases changed while they were swapped', { cause: error })
}

interface TaskList {
  nodes?: Record<string, { tasks: Record<string, { headers?: Record<string, string> }> }>
  node_failures?: unknown[]
  task_failures?: unknown[]
}
