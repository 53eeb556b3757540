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

/** Versions of the orders' index, under the alias that is read. */
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
        throw new Error(
          `${previous} is read, and ${building} is still fed since the last reindex: "index reindex --finish" removes it, "--rollback" reads it again`,
        )
      }
      const live = building ?? concreteIndex(names.orders, indexVersion(previous) + 1)
      if (building === undefined) await versions.create(live)
      // Also when an earlier attempt asked for it: its writer may not have answered yet.
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
      await setWriteTargets([previous, live], [live, previous], events)
      await versions.removeCopyAlias(live)
      return { ...totals, live, previous, documents: await versions.count(live) }
    },

    async finish(events = {}) {
      await ensureIndices.existingOrders()
      const before = await readWriteTargets()
      const [live, old] = before
      if (old === undefined) return { live, removed: [] }
      if (indexVersion(old) > indexVersion(live)) {
        throw new Error(
          `${old} is still being built: "index reindex" goes on with it, "--rollback" removes it`,
        )
      }
      // The old index may have the only good copy of a document.
      await verifyChecksums({
        client,
        deadlineMs,
        index: live,
        nextStep: `${REPAIR_HINT}; "index reindex --rollback" reads ${old} again. Nothing was removed`,
        onPage() {},
        onDelay: events.onDelay ?? (() => {}),
        signal: events.signal,
        async assertRetryable() {},
      })
      await setWriteTargets(before, [live], events)
      return { live, removed: await remove(live, [old]) }
    },

    async rollBack(events = {}) {
      await restoreOlderIndex()
      await ensureIndices.existingOrders()
      const before = await readWriteTargets()
      const [live, other] = before
      if (other === undefined) {
        const left = await versions.newerThan(live) // Of an attempt that ended before anything fed it.
        if (left.length > 0) return { live, removed: await remove(live, left) }
        throw new Error(`only ${live} is there: there is nothing to roll back`)
      }
      const [restored, dropped] =
        indexVersion(other) < indexVersion(live) ? [other, live] : [live, other]
      if (restored === other) await checkExists(restored, live)
      await setWriteTargets(before, [restored], events)
      return { live: restored, removed: await remove(restored, [dropped]) }
    },
  }

  /** Where the index that is read was lost, and the one before it is still fed. */
  async function restoreOlderIndex(): Promise<void> {
    const { kind, versions: existing } = await readPresence(options)
    if (kind !== 'lost' || existing.length === 0) return
    const [lost, older] = await readWriteTargets()
    const isWriteTarget = older !== undefined && indexVersion(older) < indexVersion(lost)
    if (isWriteTarget && existing.includes(older) && !existing.includes(lost))
      await versions.restoreLiveAlias(older)
  }

  /** No writer can feed an index that is gone: once the lease names it as read, none could begin. */
  async function checkExists(index: string, read: string): Promise<void> {
    const { versions: existing } = await readPresence(options)
    if (existing.includes(index)) return
    throw new Error(
      `${index} is gone, there is nothing to go back to: "index reindex --finish" keeps ${read}, which is read`,
    )
  }

  async function checkIsWriteTarget(index: string): Promise<void> {
    const writeTargets: readonly string[] = await readWriteTargets()
    if (writeTargets.includes(index)) return
    throw new Error(`${index} is not fed any more: another "index reindex" gave it up`)
  }

  /** Removes indices that are neither read nor fed. */
  async function remove(live: string, others: readonly string[]): Promise<readonly string[]> {
    const needed: readonly string[] = [await versions.liveIndex(), ...(await readWriteTargets())]
    if (needed[0] !== live || others.some((index) => needed.includes(index))) {
      throw new Error(`${needed.join(', ')} are needed: nothing was removed; try again`)
    }
    for (const index of others) await versions.remove(index)
    return others
  }
}
