import type { ReindexEvents, Reindexing } from '../../../indexing/reindexing.ts'
import type { Clock } from '../../../lib/clock.ts'
import { REPAIR_HINT } from '../check/damaged-documents.ts'
import type { EnsureIndices } from '../ensure-indices.ts'
import { concreteIndex, indexVersion } from '../index-names.ts'
import { readPresence } from '../index-presence.ts'
import { createFence } from '../write/fence.ts'
import { leaseDocument } from '../write/lease-document.ts'
import { createStoreClock } from '../write/store-clock.ts'
import { readMaxWriteTimestamp } from '../write/write-timestamps.ts'
import { backfill, verifyChecksums } from './backfill.ts'
import { changeWriteTargets, type WriteTargets } from './change-write-targets.ts'
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

  async function readWriteTargets(): Promise<WriteTargets> {
    const [live = concreteIndex(names.orders, 1), ...others] =
      (await document.read())?.record.targets ?? []
    return [live, ...others]
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
      onDelay,
      signal,
    }
    return changeWriteTargets(options, from, to)
  }

  return {
    async build(events = {}) {
      const { onProgress = () => {}, onDelay = () => {}, signal } = events
      await ensureIndices.existingOrders()
      const before = await readWriteTargets()
      const [previous, building] = before
      if (building !== undefined && indexVersion(building) < indexVersion(previous)) {
        if (await versions.hasCopyAlias(previous)) {
          return {
            copied: 0,
            removed: 0,
            ...(await completeSwitch(before, [previous, building], events)),
          }
        }
        throw new Error(
          `${previous} is live, and ${building} is still a write target of the last reindex: "index reindex --finish" removes ${building}, "--rollback" makes it live again`,
        )
      }
      const live = building ?? concreteIndex(names.orders, indexVersion(previous) + 1)
      if (building === undefined) await versions.create(live)
      // Also after an earlier attempt, whose request the writer may not have applied yet.
      await setWriteTargets(before, [previous, live], events)
      const totals = await backfill({
        client,
        deadlineMs,
        versions,
        from: previous,
        to: live,
        alias: names.copyAlias(live),
        onProgress,
        onDelay,
        signal,
        assertRetryable: () => checkIsWriteTarget(live),
      })
      return { ...totals, ...(await completeSwitch([previous, live], [live, previous], events)) }
    },

    async finish(events = {}) {
      await ensureIndices.existingOrders()
      const before = await readWriteTargets()
      const [live, old] = before
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
      await versions.removeCopyAlias(live) // Of a switch that was interrupted.
      await setWriteTargets(before, [live], events)
      return { live, removed: await remove(live, [old]) }
    },

    async rollBack(events = {}) {
      await restoreOlderIndex()
      await ensureIndices.existingOrders()
      const before = await readWriteTargets()
      const [live, other] = before
      if (other === undefined) {
        // From an attempt that ended before the dual write.
        const left = await versions.newerThan(live)
        if (left.length > 0) return { live, removed: await remove(live, left) }
        throw new Error(`${live} is the only index: there is nothing to roll back`)
      }
      const [restored, dropped] =
        indexVersion(other) < indexVersion(live) ? [other, live] : [live, other]
      if (restored === other) await checkExists(restored, live)
      await setWriteTargets(before, [restored], events)
      return { live: restored, removed: await remove(restored, [dropped]) }
    },
  }

  /** Ends with the removal of the alias for copies: while it exists, a repetition continues here. */
  async function completeSwitch(
    from: WriteTargets,
    to: readonly [live: string, previous: string],
    events: ReindexEvents,
  ) {
    await setWriteTargets(from, to, events)
    const [live, previous] = to
    const documents = await versions.count(live)
    await versions.removeCopyAlias(live)
    return { live, previous, documents }
  }

  /**
   * Restores the read alias when the live index is lost and the older one is still a write target.
   */
  async function restoreOlderIndex(): Promise<void> {
    const { kind, versions: existing } = await readPresence(options)
    if (kind !== 'lost' || existing.length === 0) return
    const [lost, older] = await readWriteTargets()
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
    const writeTargets: readonly string[] = await readWriteTargets()
    if (writeTargets.includes(index)) return
    throw new Error(`${index} is no longer a write target: another "index reindex" rolled it back`)
  }

  /** Removes indices that are neither live nor write targets. */
  async function remove(live: string, others: readonly string[]): Promise<readonly string[]> {
    const needed: readonly string[] = [await versions.liveIndex(), ...(await readWriteTargets())]
    if (needed[0] !== live || others.some((index) => needed.includes(index))) {
      throw new Error(`${needed.join(', ')} are still in use: nothing was removed; try again`)
    }
    for (const index of others) await versions.remove(index)
    return others
  }
}
