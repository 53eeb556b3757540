import type { ReindexEvents, Reindexing } from '../../../indexing/reindexing.ts'
import { MAX_CLOCK_SKEW_MS } from '../../../indexing/writer/clock-skew.ts'
import { newestWriteTimestamp } from '../client/search/scan.ts'
import type { EnsureIndices } from '../indices/ensure-indices.ts'
import { concreteIndex, indexVersion } from '../indices/index-names.ts'
import { backfill } from './backfill.ts'
import type { WriteTargets } from './change-write-targets.ts'
import { copyVersionRecords } from './copy-version-records.ts'
import type { IndexVersions, IndexVersionsOptions } from './index-versions.ts'
import { reindexPhase } from './reindex-phase.ts'
import type { RequestedTargets } from './requested-targets.ts'

export interface BuildOptions extends IndexVersionsOptions {
  ensureIndices: Pick<EnsureIndices, 'existingOrders'>
  versions: IndexVersions
  targets: RequestedTargets
}

/** Returns the command that builds a new index and makes it live: see `reindex.md`. */
export function createBuild(options: BuildOptions): Reindexing['build'] {
  const { client, names, ensureIndices, deadlineMs, versions, targets } = options

  return async ({ shards, ...events } = {}) => {
    await ensureIndices.existingOrders()
    const before = await targets.read()
    const phase = reindexPhase(before)
    if (phase.kind === 'switched') return repeatSwitch(before, phase, events)
    const { live } = phase
    const isResumed = phase.kind === 'building'
    const next = isResumed ? phase.next : concreteIndex(names.orders, indexVersion(live) + 1)
    if (isResumed) await checkShards(next, shards)
    const newest = await newestWriteTimestamp({ client, deadlineMs, index: live })
    const dual = isResumed ? before : await createTargets(before, next, shards)
    // Also after an earlier attempt, whose request the writer may not have applied yet.
    await targets.change(before, dual, events)
    const totals = await copyAll({ live, next, newest }, dual, events)
    const reversed: WriteTargets = {
      orders: [next, live],
      versionRecords: dual.versionRecords.toReversed(),
    }
    return { ...totals, ...(await completeSwitch(dual, reversed, events)) }
  }

  /** Ends a switch that an earlier attempt began. @throws Error when it is complete */
  async function repeatSwitch(
    before: WriteTargets,
    { live, old }: { live: string; old: string },
    events: ReindexEvents,
  ) {
    if (await versions.hasCopyAlias(live)) {
      return { copied: 0, removed: 0, ...(await completeSwitch(before, before, events)) }
    }
    throw new Error(
      `${live} is live, and ${old} is still a write target of the last reindex: "index reindex --finish" removes ${old}, "--rollback" makes it live again`,
    )
  }

  /** Copies the documents, and the version records if they have two indices. */
  async function copyAll(
    { live, next, newest }: { live: string; next: string; newest: number },
    dual: WriteTargets,
    events: ReindexEvents,
  ) {
    const { onProgress = () => {}, onDelay = () => {}, signal } = events
    const [records = '', newRecords] = dual.versionRecords
    const { aliasOf, epoch } = targets
    const prepareRetry = (limit: AbortSignal) =>
      targets.change(dual, dual, { ...events, signal: limit })
    const copy = { client, deadlineMs, aliasOf, epoch, onDelay, signal, prepareRetry }
    // Writes after `newest` may be about to appear in the live index. A resumed reindex has written
    // earlier ones to both indices, from the creation of the new one on.
    const created = (await versions.createdAt(next)) - MAX_CLOCK_SKEW_MS
    const dualSinceMs = Math.min(newest, created)
    const orders = { from: live, to: next, dualSinceMs, alias: names.copyAlias(next) }
    const totals = await backfill({ ...copy, ...orders, versions, onProgress })
    if (newRecords !== undefined) {
      const alias = names.copyAlias(newRecords)
      await copyVersionRecords({ ...copy, from: records, to: newRecords, alias })
    }
    return totals
  }

  /**
   * Ends with the removal of the alias for copies: while it exists, a repetition continues here.
   */
  async function completeSwitch(from: WriteTargets, to: WriteTargets, events: ReindexEvents) {
    await targets.change(from, to, events)
    const [live, previous = ''] = to.orders
    const documents = await versions.count(live)
    const shards = await versions.shards(live)
    await removeCopyAliases(versions, to)
    return { live, previous, shards, documents }
  }

  /** Creates the new index, and one of version records if their number of shards differs. */
  async function createTargets(
    { orders: [live], versionRecords: [records = ''] }: WriteTargets,
    next: string,
    requestedShards: number | undefined,
  ): Promise<WriteTargets> {
    const shards = requestedShards ?? (await versions.shards(live))
    await versions.create(next, shards)
    const orders = [live, next] as const
    if ((await versions.shards(records)) === shards) return { orders, versionRecords: [records] }
    const newRecords = concreteIndex(names.versionRecords, indexVersion(records) + 1)
    await versions.createVersionRecords(newRecords, shards)
    return { orders, versionRecords: [records, newRecords] }
  }

  /** An interrupted reindex continues with the index that it created. */
  async function checkShards(next: string, requested: number | undefined): Promise<void> {
    if (!(await versions.exists(next)))
      throw new Error(`${next} is missing: "index reindex --rollback" removes it from the lease`)
    const shards = await versions.shards(next)
    if (requested === undefined || requested === shards) return
    throw new Error(
      `the reindex to ${next} with --shards ${shards} is incomplete: "index reindex" continues it, "--rollback" removes ${next}`,
    )
  }
}

/**
 * Removes the aliases for copies; that of the orders last, as its absence marks a complete switch.
 */
export async function removeCopyAliases(
  versions: Pick<IndexVersions, 'removeCopyAlias'>,
  { orders: [live], versionRecords }: WriteTargets,
): Promise<void> {
  const [records = '', ...others] = versionRecords
  if (others.length > 0) await versions.removeCopyAlias(records)
  await versions.removeCopyAlias(live)
}
