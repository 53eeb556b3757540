import type { ReindexEvents, Reindexing } from '../../../indexing/reindexing.ts'
import { MAX_CLOCK_SKEW_MS } from '../../../indexing/writer/clock-skew.ts'
import { newestWriteTimestamp } from '../client/scan.ts'
import { REPAIR_HINT } from '../damaged-documents.ts'
import type { EnsureIndices } from '../indices/ensure-indices.ts'
import { concreteIndex, indexVersion } from '../indices/index-names.ts'
import { readPresence } from '../indices/index-presence.ts'
import { backfill, verifyChecksums } from './backfill.ts'
import type { WriteTargets } from './change-write-targets.ts'
import { completeVersionRecords } from './complete-version-records.ts'
import { copyVersionRecords } from './copy-version-records.ts'
import { createIndexVersions } from './index-versions.ts'
import { hasLeftovers, unusedLeftovers } from './leftover-versions.ts'
import { type ReindexPhase, reindexPhase } from './reindex-phase.ts'
import { createRequestedTargets, type RequestedTargetsOptions } from './requested-targets.ts'

export interface ReindexingOptions extends RequestedTargetsOptions {
  ensureIndices: Pick<EnsureIndices, 'existingOrders'>
}

/** The reindex commands: see `reindex.md`. */
export function createReindexing(options: ReindexingOptions): Reindexing {
  const { client, names, ensureIndices, deadlineMs } = options
  const versions = createIndexVersions(options)
  const targets = createRequestedTargets(options)

  return {
    async build({ shards, ...events } = {}) {
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
    },

    async finish(events = {}) {
      await ensureIndices.existingOrders()
      const before = await targets.read()
      const phase = reindexPhase(before)
      if (phase.kind === 'building') {
        throw new Error(
          `the reindex to ${phase.next} is incomplete: "index reindex" continues it, "--rollback" removes ${phase.next}`,
        )
      }
      const { live } = phase
      const [records = '', ...oldRecords] = before.versionRecords
      const after: WriteTargets = { orders: [live], versionRecords: [records] }
      if (phase.kind === 'single' && !(await hasLeftovers(versions, after)))
        return { live, removed: [] }
      await verifyBeforeRemoval(phase, events)
      // As with the documents: a shard of the new index may be lost.
      for (const from of oldRecords) await complete({ from, to: records }, before, events)
      await removeCopyAliases(before) // Of a switch that was interrupted.
      // Also after an interrupted attempt, whose request the writer may not have applied yet.
      await targets.change(before, after, events)
      const old = phase.kind === 'switched' ? [phase.old, ...oldRecords] : []
      const removed = new Set([...old, ...(await unusedLeftovers(versions, after))])
      return { live, removed: await remove(live, [...removed]) }
    },

    async rollBack(events = {}) {
      await restoreOlderIndex()
      await ensureIndices.existingOrders()
      const before = await targets.read()
      const phase = reindexPhase(before)
      if (phase.kind === 'single') return removeUnused(before)
      const isSwitched = phase.kind === 'switched'
      const [restored, dropped] = isSwitched ? [phase.old, phase.live] : [phase.live, phase.next]
      if (isSwitched) await checkExists(restored, phase.live)
      // Both lists have the same order.
      const [records = '', otherRecords = records] = before.versionRecords
      const restoredRecords = isSwitched ? otherRecords : records
      const droppedRecords = before.versionRecords.filter((index) => index !== restoredRecords)
      const after: WriteTargets = { orders: [restored], versionRecords: [restoredRecords] }
      if (restoredRecords !== records)
        await complete({ from: records, to: restoredRecords }, before, events)
      await targets.change(before, after, events)
      return { live: restored, removed: await remove(restored, [dropped, ...droppedRecords]) }
    },
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

  /** An old index may hold the only good copy of a document. @throws Error for a damaged one */
  async function verifyBeforeRemoval(
    phase: Exclude<ReindexPhase, { kind: 'building' }>,
    { onDelay = () => {}, signal }: ReindexEvents,
  ): Promise<void> {
    const rollback =
      phase.kind === 'switched' ? `; "index reindex --rollback" makes ${phase.old} live again` : ''
    await verifyChecksums({
      client,
      deadlineMs,
      index: phase.live,
      aliasOf: (index) => index,
      nextStep: `${REPAIR_HINT}${rollback}. Nothing was removed`,
      onPage() {},
      onDelay,
      signal,
      epoch: () => 0,
      async prepareRetry() {},
    })
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

  function complete(
    indices: { from: string; to: string },
    before: WriteTargets,
    events: ReindexEvents,
  ): Promise<void> {
    const stores = { client, names, deadlineMs, versions, targets }
    return completeVersionRecords({ ...stores, ...indices }, before, events)
  }

  /** Ends with the removal of the alias for copies: while it exists, a repetition continues here. */
  async function completeSwitch(from: WriteTargets, to: WriteTargets, events: ReindexEvents) {
    await targets.change(from, to, events)
    const [live, previous = ''] = to.orders
    const documents = await versions.count(live)
    const shards = await versions.shards(live)
    await removeCopyAliases(to)
    return { live, previous, shards, documents }
  }

  /** Ends with the alias of the orders, whose absence marks a complete switch. */
  async function removeCopyAliases({ orders: [live], versionRecords }: WriteTargets) {
    const [records = '', ...others] = versionRecords
    if (others.length > 0) await versions.removeCopyAlias(records)
    await versions.removeCopyAlias(live)
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
    const shards = await versions.shards(next)
    if (requested === undefined || requested === shards) return
    throw new Error(
      `the reindex to ${next} with --shards ${shards} is incomplete: "index reindex" continues it, "--rollback" removes ${next}`,
    )
  }

  /**
   * Restores the read alias when the live index is lost and the older one is still a write target.
   */
  async function restoreOlderIndex(): Promise<void> {
    const { kind, versions: existing } = await readPresence(options)
    if (kind !== 'lost' || existing.length === 0) return
    const phase = reindexPhase(await targets.read())
    if (phase.kind !== 'switched') return
    if (existing.includes(phase.old) && !existing.includes(phase.live))
      await versions.restoreLiveAlias(phase.old)
  }

  /**
   * A fence fails on a missing index, so a lease that names one as live would block every writer.
   */
  async function checkExists(index: string, read: string): Promise<void> {
    const { versions: existing } = await readPresence(options)
    if (existing.includes(index)) return
    throw new Error(
      `${index} is missing, so a rollback is impossible: "index reindex --finish" keeps ${read}, the live index`,
    )
  }

  /** Removes what an attempt created that ended before the dual write. @throws Error without any */
  async function removeUnused({ orders: [live], versionRecords: [records = ''] }: WriteTargets) {
    const newer = await Promise.all([live, records].map(versions.newerThan))
    const unused = newer.flat()
    if (unused.length > 0) return { live, removed: await remove(live, unused) }
    throw new Error(`${live} is the only index: there is nothing to roll back`)
  }

  /** Removes indices that are neither live nor write targets. */
  async function remove(live: string, others: readonly string[]): Promise<readonly string[]> {
    const { orders, versionRecords } = await targets.read()
    const needed = [await versions.liveIndex(), ...orders, ...versionRecords]
    if (needed[0] !== live || others.some((index) => needed.includes(index))) {
      throw new Error(`${needed.join(', ')} are still in use: nothing was removed; try again`)
    }
    for (const index of others) await versions.remove(index)
    return others
  }
}
