import type { ReindexEvents, Reindexing } from '../../../indexing/reindexing.ts'
import type { Clock } from '../../../lib/clock.ts'
import { ask, type OpenSearch, tell } from '../client.ts'
import { type IndexNames, indexBehind, versionOf } from '../names.ts'
import type { Prepare } from '../prepare.ts'
import { createFence } from '../writer/fence.ts'
import { leaseDocument } from '../writer/lease-document.ts'
import { type CopyOptions, copyMissing, removeExtras } from './copy.ts'
import { retarget, type Targets } from './retarget.ts'

export interface ReindexingOptions {
  client: OpenSearch
  names: IndexNames
  prepare: Prepare
  leaseMs: number
  /** For each request, the answer's body included. */
  deadlineMs: number
  /** Epoch milliseconds. */
  clock: Clock
}

/** How often a new index may be found to lack something before it is given up. */
const LOOKS = 5
/** Within this a writer that wrote to one index has written to the other. */
const SETTLE_MS = 1_000

/** Versions of the orders' index, under the alias that is read. */
export function createReindexing(options: ReindexingOptions): Reindexing {
  const { client, names, prepare, leaseMs, deadlineMs, clock } = options
  const document = leaseDocument(client, names, deadlineMs)

  async function targets(): Promise<Targets> {
    const [read = indexBehind(names.orders, 1), ...others] =
      (await document.read())?.record.targets ?? []
    return [read, ...others]
  }

  function feed(from: Targets, to: Targets, { onDelay = () => {}, signal }: ReindexEvents) {
    const fence = createFence({ client, names, deadlineMs, onDelay })
    return retarget({ document, fence, leaseMs, clock, signal }, from, to)
  }

  return {
    async build(events = {}) {
      await prepare()
      const before = await targets()
      const [previous, building] = before
      if (building !== undefined && versionOf(building) < versionOf(previous)) {
        throw new Error(
          `${previous} is read, and ${building} is still fed since the last reindex: "index reindex --finish" removes it, "--rollback" reads it again`,
        )
      }
      const live = building ?? indexBehind(names.orders, versionOf(previous) + 1)
      if (building === undefined) {
        await createEmpty(live)
        await feed(before, [previous, live], events)
      }
      const filled = await fill(previous, live, events)
      await feed([previous, live], [live, previous], events)
      // A writer may have been in the middle of what was removed.
      const late = filled.removed > 0 ? await copyMissing(copying(previous, live, events)) : 0
      await removeCopyAlias(live)
      const { count } = await ask(deadlineMs, (call) => client.count({ index: live }, call))
      return { ...filled, copied: filled.copied + late, live, previous, documents: count }
    },

    async finish(events = {}) {
      const before = await targets()
      const [live, old] = before
      if (old !== undefined && versionOf(old) > versionOf(live)) {
        throw new Error(
          `${old} is still being built: "index reindex" goes on with it, "--rollback" removes it`,
        )
      }
      if (old !== undefined) await feed(before, [live], events)
      return { live, removed: await removeOthers(live) }
    },

    async rollBack(events = {}) {
      const before = await targets()
      const [read, other] = before
      if (other === undefined) {
        throw new Error(`only ${read} is fed: there is nothing to roll back`)
      }
      const live = versionOf(other) < versionOf(read) ? other : read
      await feed(before, [live], events)
      return { live, removed: await removeOthers(live) }
    },
  }

  /** By the template, so with the mapping of today. */
  async function createEmpty(index: string): Promise<void> {
    await removeOthers(await readIndex()) // Of an attempt that ended before anything was fed to it.
    const body = { aliases: { [names.copyAlias(index)]: {} } }
    await tell(deadlineMs, (call) => client.indices.create({ index, body }, call))
  }

  async function fill(from: string, to: string, events: ReindexEvents) {
    const { onProgress = () => {} } = events
    const filled = { copied: 0, removed: 0 }
    for (let look = 1; ; look++) {
      const { count } = await ask(deadlineMs, (call) => client.count({ index: from }, call))
      let looked = 0
      const options = copying(from, to, events, (documents) => {
        looked += documents
        onProgress(looked, Math.max(looked, count))
      })
      const copied = await copyMissing(options)
      await ask(deadlineMs, (call) => client.indices.refresh({ index: to }, call))
      const removed = await removeExtras(options, SETTLE_MS)
      filled.copied += copied
      filled.removed += removed
      if (copied + removed === 0) return filled
      if (look === LOOKS) {
        throw new Error(
          `${to} still lacked documents of ${from} after ${LOOKS} looks: "index reindex" looks again, "--rollback" gives it up`,
        )
      }
    }
  }

  function copying(
    from: string,
    to: string,
    { onDelay = () => {}, signal }: ReindexEvents,
    onPage: CopyOptions['onPage'] = () => {},
  ): CopyOptions {
    const alias = names.copyAlias(to)
    return { client, deadlineMs, from, to, alias, onPage, onDelay, signal }
  }

  async function readIndex(): Promise<string> {
    const there = await ask(deadlineMs, (call) =>
      client.indices.getAlias({ name: names.orders }, call),
    )
    const [index, ...others] = Object.keys(there)
    if (index !== undefined && others.length === 0) return index
    throw new Error(
      `expected the alias ${names.orders} over one index; it is over ${Object.keys(there).join(', ') || 'none'}`,
    )
  }

  /** A copy that comes late goes nowhere from here on. */
  async function removeCopyAlias(index: string): Promise<void> {
    const remove = { index, alias: names.copyAlias(index), must_exist: false }
    await tell(deadlineMs, (call) =>
      client.indices.updateAliases({ body: { actions: [{ remove }] } }, call),
    )
  }

  /** Removes every version that is neither read nor fed. */
  async function removeOthers(live: string): Promise<string[]> {
    const read = await readIndex()
    const fed: readonly string[] = await targets()
    if (read !== live) throw new Error(`${read} is read, not ${live}: nothing is removed`)
    const versions = await ask(deadlineMs, (call) =>
      client.indices.get({ index: indexBehind(names.orders, '*') }, call),
    )
    const others = Object.keys(versions).filter((index) => index !== live && !fed.includes(index))
    for (const index of others) {
      await tell(deadlineMs, (call) => client.indices.delete({ index }, call))
    }
    return others
  }
}
