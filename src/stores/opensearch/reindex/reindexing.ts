import type { ReindexEvents, Reindexing } from '../../../indexing/reindexing.ts'
import { REPAIR_HINT } from '../check/damaged-documents.ts'
import type { EnsureIndices } from '../ensure-indices.ts'
import { concreteIndex, indexVersion } from '../index-names.ts'
import { readPresence } from '../index-presence.ts'
import { backfill, verifyChecksums } from './backfill.ts'
import type { WriteTargets } from './change-write-targets.ts'
import { completeVersionRecords } from './complete-version-records.ts'
import { copyVersionRecords } from './copy-version-records.ts'
import { createIndexVersions } from './index-versions.ts'
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
      const { onProgress = () => {}, onDelay = () => {}, signal } = events
      await ensureIndices.existingOrders()
      const before = await targets.read()
      const [previous, building] = before.orders
      if (building !== undefined && indexVersion(building) < indexVersion(previous)) {
        if (await versions.hasCopyAlias(previous)) {
          return {
            copied: 0,
            removed: 0,
            ...(await completeSwitch(before, before, events)),
          }
        }
        throw new Error(
          `${previous} is live, and ${building} is still a write target of the last reindex: "index reindex --finish" removes ${building}, "--rollback" makes it live again`,
        )
      }
      const live = building ?? concreteIndex(names.orders, indexVersion(previous) + 1)
      const dual =
        building === undefined
          ? await createTargets(before, live, shards ?? (await versions.shards(previous)))
          : before
      if (building !== undefined) await checkShards(building, shards)
      // Also after an earlier attempt, whose request the writer may not have applied yet.
      await targets.change(before, dual, events)
      const copy = {
        client,
        deadlineMs,
        onDelay,
        signal,
        assertRetryable: () => targets.assertInclude(live),
      }
      const totals = await backfill({
        ...copy,
        versions,
        from: previous,
        to: live,
        alias: names.copyAlias(live),
        onProgress,
      })
      const [from = '', to] = dual.versionRecords
      if (to !== undefined)
        await copyVersionRecords({ ...copy, from, to, alias: names.copyAlias(to) })
      const reversed: WriteTargets = {
        orders: [live, previous],
        versionRecords: dual.versionRecords.toReversed(),
      }
      return { ...totals, ...(await completeSwitch(dual, reversed, events)) }
    },

    async finish(events = {}) {
      await ensureIndices.existingOrders()
      const before = await targets.read()
      const [live, old] = before.orders
      const [records = '', ...oldRecords] = before.versionRecords
      if (old === undefined) return { live, removed: [] }
      if (indexVersion(old) > indexVersion(live)) {
        throw new Error(
          `the reindex to ${old} is incomplete: "index reindex" continues it, "--rollback" removes ${old}`,
        )
      }
      // The old index may hold the only good copy of a document.
      await verifyChecksums({
        client,
        deadlineMs,
        index: live,
        nextStep: `${REPAIR_HINT}; "index reindex --rollback" makes ${old} live again. Nothing was removed`,
        onPage() {},
        onDelay: events.onDelay ?? (() => {}),
        signal: events.signal,
        async assertRetryable() {},
      })
      // As with the documents: a shard of the new index may be lost.
      for (const from of oldRecords) await complete({ from, to: records }, before, events)
      await removeCopyAliases(before) // Of a switch that was interrupted.
      await targets.change(before, { orders: [live], versionRecords: [records] }, events)
      return { live, removed: await remove(live, [old, ...oldRecords]) }
    },

    async rollBack(events = {}) {
      await restoreOlderIndex()
      await ensureIndices.existingOrders()
      const before = await targets.read()
      const [live, other] = before.orders
      const [records = '', otherRecords] = before.versionRecords
      if (other === undefined) {
        // From an attempt that ended before the dual write.
        const newer = await Promise.all([live, records].map(versions.newerThan))
        const left = newer.flat()
        if (left.length > 0) return { live, removed: await remove(live, left) }
        throw new Error(`${live} is the only index: there is nothing to roll back`)
      }
      const [restored, dropped] =
        indexVersion(other) < indexVersion(live) ? [other, live] : [live, other]
      if (restored === other) await checkExists(restored, live)
      // Both lists have the same order.
      const restoredRecords = restored === other ? (otherRecords ?? records) : records
      const droppedRecords = before.versionRecords.filter((index) => index !== restoredRecords)
      const after: WriteTargets = { orders: [restored], versionRecords: [restoredRecords] }
      if (restoredRecords !== records)
        await complete({ from: records, to: restoredRecords }, before, events)
      await targets.change(before, after, events)
      return { live: restored, removed: await remove(restored, [dropped, ...droppedRecords]) }
    },
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
    { orders: [previous], versionRecords: [records = ''] }: WriteTargets,
    live: string,
    shards: number,
  ): Promise<WriteTargets> {
    await versions.create(live, shards)
    const orders = [previous, live] as const
    if ((await versions.shards(records)) === shards) return { orders, versionRecords: [records] }
    const newRecords = concreteIndex(names.versionRecords, indexVersion(records) + 1)
    await versions.createVersionRecords(newRecords, shards)
    return { orders, versionRecords: [records, newRecords] }
  }

  /** An interrupted reindex continues with the index that it created. */
  async function checkShards(building: string, requested: number | undefined): Promise<void> {
    const shards = await versions.shards(building)
    if (requested === undefined || requested === shards) return
    throw new Error(
      `the reindex to ${building} with --shards ${shards} is incomplete: "index reindex" continues it, "--rollback" removes ${building}`,
    )
  }

  /**
   * Restores the read alias when the live index is lost and the older one is still a write target.
   */
  async function restoreOlderIndex(): Promise<void> {
    const { kind, versions: existing } = await readPresence(options)
    if (kind !== 'lost' || existing.length === 0) return
    const [lost, older] = (await targets.read()).orders
    const isWriteTarget = older !== undefined && indexVersion(older) < indexVersion(lost)
    if (isWriteTarget && existing.includes(older) && !existing.includes(lost))
      await versions.restoreLiveAlias(older)
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
