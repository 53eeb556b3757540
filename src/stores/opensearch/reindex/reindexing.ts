import type { ReindexEvents, Reindexing } from '../../../indexing/reindexing.ts'
import type { Clock } from '../../../lib/clock.ts'
import { REPAIR } from '../damage.ts'
import { readPresence } from '../index-presence.ts'
import { indexBehind, versionOf } from '../names.ts'
import type { Prepare } from '../prepare.ts'
import { createFence } from '../writer/fence.ts'
import { leaseDocument } from '../writer/lease-document.ts'
import { createStoreClock } from '../writer/store-clock.ts'
import { readGreatestStamp } from '../writer/stored-stamps.ts'
import { expectUndamaged } from './expect-undamaged.ts'
import { fill } from './fill.ts'
import { retarget, type Targets } from './retarget.ts'
import { createVersions, type VersionsOptions } from './versions.ts'

export interface ReindexingOptions extends VersionsOptions {
  prepare: Pick<Prepare, 'existingOrders'>
  leaseMs: number
  /** Epoch milliseconds. */
  clock: Clock
}

/** Versions of the orders' index, under the alias that is read. */
export function createReindexing(options: ReindexingOptions): Reindexing {
  const { client, names, prepare, leaseMs, deadlineMs, clock } = options
  const document = leaseDocument(client, names, deadlineMs)
  const versions = createVersions(options)

  async function targets(): Promise<Targets> {
    const [read = indexBehind(names.orders, 1), ...others] =
      (await document.read())?.record.targets ?? []
    return [read, ...others]
  }

  function feed(from: Targets, to: Targets, { onDelay = () => {}, signal }: ReindexEvents) {
    const fence = createFence({ client, names, deadlineMs, onDelay })
    const storeClock = createStoreClock(client, Math.min(leaseMs, deadlineMs))
    const greatestStamp = () => readGreatestStamp(client, names, deadlineMs)
    const options = { document, fence, leaseMs, clock, storeClock, greatestStamp, onDelay, signal }
    return retarget(options, from, to)
  }

  return {
    async build(events = {}) {
      const { onProgress = () => {}, onDelay = () => {}, signal } = events
      await prepare.existingOrders()
      const before = await targets()
      const [previous, building] = before
      if (building !== undefined && versionOf(building) < versionOf(previous)) {
        throw new Error(
          `${previous} is read, and ${building} is still fed since the last reindex: "index reindex --finish" removes it, "--rollback" reads it again`,
        )
      }
      const live = building ?? indexBehind(names.orders, versionOf(previous) + 1)
      if (building === undefined) await versions.create(live)
      // Also when an earlier attempt asked for it: its writer may not have answered yet.
      await feed(before, [previous, live], events)
      const filled = await fill({
        client,
        deadlineMs,
        versions,
        from: previous,
        to: live,
        alias: names.copyAlias(live),
        onProgress,
        onDelay,
        signal,
        checkHope: () => expectFed(live),
      })
      await feed([previous, live], [live, previous], events)
      await versions.closeToCopies(live)
      return { ...filled, live, previous, documents: await versions.count(live) }
    },

    async finish(events = {}) {
      await prepare.existingOrders()
      const before = await targets()
      const [live, old] = before
      if (old === undefined) return { live, removed: [] }
      if (versionOf(old) > versionOf(live)) {
        throw new Error(
          `${old} is still being built: "index reindex" goes on with it, "--rollback" removes it`,
        )
      }
      // The old index may have the only good copy of a document.
      await expectUndamaged({
        client,
        deadlineMs,
        index: live,
        wayOut: `${REPAIR}; "index reindex --rollback" reads ${old} again. Nothing was removed`,
        onPage() {},
        onDelay: events.onDelay ?? (() => {}),
        signal: events.signal,
        async checkHope() {},
      })
      await feed(before, [live], events)
      return { live, removed: await remove(live, [old]) }
    },

    async rollBack(events = {}) {
      await readOlderAgain()
      await prepare.existingOrders()
      const before = await targets()
      const [read, other] = before
      if (other === undefined) {
        const left = await versions.newerThan(read) // Of an attempt that ended before anything fed it.
        if (left.length > 0) return { live: read, removed: await remove(read, left) }
        throw new Error(`only ${read} is there: there is nothing to roll back`)
      }
      const [live, dropped] = versionOf(other) < versionOf(read) ? [other, read] : [read, other]
      if (live === other) await expectThere(live, read)
      await feed(before, [live], events)
      return { live, removed: await remove(live, [dropped]) }
    },
  }

  /** Where the index that is read was lost, and the one before it is still fed. */
  async function readOlderAgain(): Promise<void> {
    const { kind, versions: there } = await readPresence(options)
    if (kind !== 'lost' || there.length === 0) return
    const [lost, older] = await targets()
    const isFed = older !== undefined && versionOf(older) < versionOf(lost)
    if (isFed && there.includes(older) && !there.includes(lost)) await versions.readInstead(older)
  }

  /** No writer can feed an index that is gone: once the lease names it as read, none could begin. */
  async function expectThere(index: string, read: string): Promise<void> {
    const { versions: there } = await readPresence(options)
    if (there.includes(index)) return
    throw new Error(
      `${index} is gone, there is nothing to go back to: "index reindex --finish" keeps ${read}, which is read`,
    )
  }

  async function expectFed(index: string): Promise<void> {
    const fed: readonly string[] = await targets()
    if (fed.includes(index)) return
    throw new Error(`${index} is not fed any more: another "index reindex" gave it up`)
  }

  /** Removes indices that are neither read nor fed. */
  async function remove(live: string, others: readonly string[]): Promise<readonly string[]> {
    const needed: readonly string[] = [await versions.read(), ...(await targets())]
    if (needed[0] !== live || others.some((index) => needed.includes(index))) {
      throw new Error(`${needed.join(', ')} are needed: nothing was removed; try again`)
    }
    for (const index of others) await versions.remove(index)
    return others
  }
}
