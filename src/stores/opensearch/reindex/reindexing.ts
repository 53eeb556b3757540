import type { ReindexEvents, Reindexing } from '../../../indexing/reindexing.ts'
import type { EnsureIndices } from '../indices/ensure-indices.ts'
import { readPresence } from '../indices/index-presence.ts'
import { REPAIR_HINT } from '../order-documents/damaged-documents.ts'
import { verifyChecksums } from './backfill.ts'
import { createBuild, removeCopyAliases } from './build-index.ts'
import type { WriteTargets } from './change-write-targets.ts'
import { completeVersionRecords } from './complete-version-records.ts'
import { createIndexVersions } from './index-versions.ts'
import { checkRead, hasLeftovers, unusedLeftovers } from './leftover-versions.ts'
import { type ReindexPhase, reindexPhase } from './reindex-phase.ts'
import {
  createRequestedTargets,
  type RequestedTargets,
  type RequestedTargetsOptions,
} from './requested-targets.ts'

export interface ReindexingOptions extends RequestedTargetsOptions {
  ensureIndices: Pick<EnsureIndices, 'existingOrders'>
}

/** The reindex commands: see `reindex.md`. */
export function createReindexing(
  options: ReindexingOptions,
  targets: RequestedTargets = createRequestedTargets(options),
): Reindexing {
  const { client, names, ensureIndices, deadlineMs } = options
  const versions = createIndexVersions(options)

  return {
    build: createBuild({ client, names, deadlineMs, ensureIndices, versions, targets }),

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
      await removeCopyAliases(versions, before) // Of a switch that was interrupted.
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
      await checkExists(restored, phase)
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

  /** An old index may hold the only good copy of a document. @throws Error for a damaged one */
  async function verifyBeforeRemoval(
    phase: Exclude<ReindexPhase, { kind: 'building' }>,
    { onProgress = () => {}, onDelay = () => {}, signal }: ReindexEvents,
  ): Promise<void> {
    const total = await versions.count(phase.live)
    let verified = 0
    const rollback =
      phase.kind === 'switched' ? `; "index reindex --rollback" makes ${phase.old} live again` : ''
    await verifyChecksums({
      client,
      deadlineMs,
      index: phase.live,
      aliasOf: (index) => index,
      nextStep: `${REPAIR_HINT}${rollback}. Nothing was removed`,
      onPage(documents) {
        verified += documents
        onProgress(verified, Math.max(verified, total))
      },
      onDelay,
      signal,
      epoch: () => 0,
      async prepareRetry() {},
    })
  }

  function complete(
    indices: { from: string; to: string },
    before: WriteTargets,
    events: ReindexEvents,
  ): Promise<void> {
    const stores = { client, names, deadlineMs, versions, targets }
    return completeVersionRecords({ ...stores, ...indices }, before, events)
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
  async function checkExists(index: string, { kind, live }: ReindexPhase): Promise<void> {
    const { versions: existing } = await readPresence(options)
    if (existing.includes(index)) return
    const remedy =
      kind === 'switched'
        ? `"index reindex --finish" keeps ${live}, the live index`
        : 'recover the index: docker/recovery.md, "A lost index"'
    throw new Error(`${index} is missing, so a rollback is impossible: ${remedy}`)
  }

  /**
   * Removes what an attempt created that ended before the dual write, and what an interrupted
   * rollback left once a writer has applied it. @throws Error without any
   */
  async function removeUnused({ orders: [live], versionRecords: [records = ''] }: WriteTargets) {
    await checkRead(versions, live)
    const newer = await Promise.all([live, records].map(versions.newerThan))
    const unused = newer.flat()
    if (unused.length === 0)
      throw new Error(`${live} is the only index: there is nothing to roll back`)
    return { live, removed: await remove(live, unused) }
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
