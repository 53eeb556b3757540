import type { ReindexEvents, Reindexing } from '../../../indexing/reindexing.ts'
import type { Clock } from '../../../lib/clock.ts'
import { REPAIR_HINT } from '../check/damaged-documents.ts'
import type { EnsureIndices } from '../ensure-indices.ts'
import { concreteIndex, indexVersion } from '../index-names.ts'
import { readPresence } from '../index-presence.ts'
import { readVersionRecordIndex } from '../version-record-index.ts'
import { createFence } from '../write/fence.ts'
import { leaseDocument } from '../write/lease-document.ts'
import { createStoreClock } from '../write/store-clock.ts'
import { readMaxWriteTimestamp } from '../write/write-timestamps.ts'
import { backfill, verifyChecksums } from './backfill.ts'
import { changeWriteTargets, type WriteTargets } from './change-write-targets.ts'
import { copyVersionRecords } from './copy-version-records.ts'
import { createIndexVersions, type IndexVersionsOptions } from './index-versions.ts'

export interface ReindexingOptions extends IndexVersionsOptions {
  ensureIndices: Pick<EnsureIndices, 'existingOrders'>
  leaseMs: number
  /** Epoch milliseconds. */
  clock: Clock
}

/** The reindex commands: see `reindex.md`. */
export function createReindexing(options: ReindexingOptions): Reindexing {
  const { client, names, ensureIndices, leaseMs, deadlineMs, clock } = options
  const document = leaseDocument(client, names, deadlineMs)
  const versions = createIndexVersions(options)

  const versionRecordIndex = () => readVersionRecordIndex(client, names, deadlineMs)

  async function readWriteTargets(): Promise<WriteTargets> {
    const record = (await document.read())?.record
    const [live = concreteIndex(names.orders, 1), ...others] = record?.targets ?? []
    const versionRecords = record?.version_records ?? [await versionRecordIndex()]
    return { orders: [live, ...others], versionRecords }
  }

  function setWriteTargets(
    from: WriteTargets,
    to: WriteTargets,
    { onDelay = () => {}, signal }: ReindexEvents,
  ) {
    const fence = createFence({ client, names, deadlineMs, onDelay })
    const storeClock = createStoreClock(client, Math.min(leaseMs, deadlineMs))
    const maxWriteTimestamp = () => readMaxWriteTimestamp(client, names, deadlineMs)
    const options = {
      document,
      fence,
      leaseMs,
      clock,
      storeClock,
      maxWriteTimestamp,
      versionRecordIndex,
      onDelay,
      signal,
    }
    return changeWriteTargets(options, from, to)
  }

  return {
    async build({ shards, ...events } = {}) {
      const { onProgress = () => {}, onDelay = () => {}, signal } = events
      await ensureIndices.existingOrders()
      const before = await readWriteTargets()
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
      await setWriteTargets(before, dual, events)
      const copy = {
        client,
        deadlineMs,
        onDelay,
        signal,
        assertRetryable: () => checkIsWriteTarget(live),
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
      const before = await readWriteTargets()
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
      for (const from of oldRecords) await completeVersionRecords(from, records, before, events)
      await removeCopyAliases(before) // Of a switch that was interrupted.
      await setWriteTargets(before, { orders: [live], versionRecords: [records] }, events)
      return { live, removed: await remove(live, [old, ...oldRecords]) }
    },

    async rollBack(events = {}) {
      await restoreOlderIndex()
      await ensureIndices.existingOrders()
      const before = await readWriteTargets()
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
        await completeVersionRecords(records, restoredRecords, before, events)
      await setWriteTargets(before, after, events)
      return { live: restored, removed: await remove(restored, [dropped, ...droppedRecords]) }
    },
  }

  /**
   * Copies what `to` lacks before it is the only index of version records. A bulk may have reached
   * `from` alone before a fence, and the writer then finds the change in `from`.
   */
  async function completeVersionRecords(
    from: string,
    to: string,
    targets: WriteTargets,
    events: ReindexEvents,
  ): Promise<void> {
    const [live] = targets.orders
    const areThere = await Promise.all([from, live].map(versions.exists))
    if (areThere.includes(false)) return
    // A writer that still applies an interrupted request sends to `from` first.
    await setWriteTargets(targets, targets, events)
    await versions.refresh(to)
    await versions.addCopyAlias(to)
    await copyVersionRecords({
      client,
      deadlineMs,
      onDelay: events.onDelay ?? (() => {}),
      signal: events.signal,
      assertRetryable: () => checkIsWriteTarget(live),
      from,
      to,
      alias: names.copyAlias(to),
    })
    await versions.removeCopyAlias(to)
  }

  /** Ends with the removal of the alias for copies: while it exists, a repetition continues here. */
  async function completeSwitch(from: WriteTargets, to: WriteTargets, events: ReindexEvents) {
    await setWriteTargets(from, to, events)
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
    const [lost, older] = (await readWriteTargets()).orders
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

  async function checkIsWriteTarget(index: string): Promise<void> {
    const writeTargets: readonly string[] = (await readWriteTargets()).orders
    if (writeTargets.includes(index)) return
    throw new Error(`${index} is no longer a write target: another "index reindex" rolled it back`)
  }

  /** Removes indices that are neither live nor write targets. */
  async function remove(live: string, others: readonly string[]): Promise<readonly string[]> {
    const { orders, versionRecords } = await readWriteTargets()
    const needed = [await versions.liveIndex(), ...orders, ...versionRecords]
    if (needed[0] !== live || others.some((index) => needed.includes(index))) {
      throw new Error(`${needed.join(', ')} are still in use: nothing was removed; try again`)
    }
    for (const index of others) await versions.remove(index)
    return others
  }
}
