import { errors } from '@opensearch-project/opensearch'
import { toResponseError } from '../../../../../src/stores/opensearch/client/client.ts'
import { INDEX_NOT_FOUND, NOT_FOUND } from '../../../../../src/stores/opensearch/client/errors.ts'
import { type AliasAction, createMemoryAliases } from './memory-aliases.ts'
import { createMemoryShard, type ShardItem, type ShardTask } from './memory-shard.ts'

/** What happens to the next bulk. */
export interface BulkTurn {
  /** Runs before the bulk arrives. */
  before(): Promise<void>
  /** Runs once the primary has applied this many items. */
  during(): Promise<void>
  applied: number
  /**
   * `held`: a node resolved its alias, froze and left the cluster. `in transit`: no node received
   * it yet. Both are delivered later.
   */
  fate: 'answered' | 'unanswered' | 'running' | 'held' | 'in transit'
  /** The process that sent it dies. */
  isCrash: boolean
}

/** A bulk through an alias. */
export interface MemoryBulk {
  alias: string
  items: readonly ShardItem[]
  opaqueId: string | undefined
}

/** `index` is absent until a node has resolved the alias. */
type LateBulk = MemoryBulk & { index?: string }

export type MemoryCluster = ReturnType<typeof createMemoryCluster>

/**
 * A cluster with indices of one shard. `nextTurn`: what happens to each bulk. `isOutdatedRead`:
 * whether a node that left the cluster responds to the next read.
 */
export function createMemoryCluster(nextTurn: () => BulkTurn, isOutdatedRead: () => boolean) {
  const shards = new Map(
    ['orders-v1', 'order-heads-v1', 'order-events-v1'].map((index) => [index, createMemoryShard()]),
  )
  const aliases = createMemoryAliases()
  const late: LateBulk[] = []
  let isSwapUnpolled = false

  const cluster = {
    aliases,
    indices: () => [...shards.keys()],
    shard: shardOf,

    createIndex(index: string, alias: string, nowMs: number): void {
      shards.set(index, createMemoryShard(nowMs))
      aliases.change([{ add: { index, alias } }])
    },

    removeIndex(index: string): void {
      for (const task of shards.get(index)?.running ?? []) task.state = 'dropped'
      shards.delete(index)
      aliases.removeIndex(index)
    },

    /** The primary of an index leaves the cluster. */
    failOver(index: string, kept: number, isRepeated: boolean): void {
      const known = aliases.names()
      shards.get(index)?.failOver(kept, isRepeated, (name) => shards.has(name) || known.has(name))
    },

    /** A late bulk arrives, and the primary applies this many of its items. */
    deliver(at: number, count: number): void {
      const [bulk] = late.splice(at % Math.max(late.length, 1), 1)
      if (bulk === undefined) return
      const shard = shards.get(bulk.index ?? aliases.get(bulk.alias) ?? '')
      shard?.start(bulk.items, bulk.opaqueId, count)
    },

    /**
     * The bulks that run end. Excluded by the last known limit of `fence.md`: between the swap of
     * the fence and its first read of the task list.
     */
    endBulks(isEnding: (task: ShardTask) => boolean = () => true): void {
      if (isSwapUnpolled) return
      for (const shard of shards.values())
        for (const task of shard.running) if (isEnding(task)) shard.end(task)
    },

    /** Everything in flight ends, and all of it is searchable. */
    heal(): void {
      while (late.length > 0) cluster.deliver(0, 0)
      isSwapUnpolled = false
      cluster.endBulks()
      for (const shard of shards.values()) shard.refresh()
    },

    changeAliases(actions: readonly AliasAction[]): void {
      for (const { add } of actions)
        if (add && !shards.has(add.index)) throw indexMissing(add.index)
      isSwapUnpolled = aliases.change(actions) || isSwapUnpolled
    },

    /** Sends a bulk of a process; `crash` ends that process. */
    async bulk(bulk: MemoryBulk, crash: () => void) {
      const turn = nextTurn()
      await turn.before()
      const index = aliases.get(bulk.alias)
      try {
        if (turn.fate === 'in transit') delay(bulk)
        else if (index === undefined) throw indexMissing(bulk.alias)
        else if (turn.fate === 'held') delay({ ...bulk, index })
        else return await runBulk(index, bulk, turn)
        throw timeout()
      } finally {
        if (turn.isCrash) crash()
      }
    },

    /** The copy that responds: the primary, or that of a node that left the cluster. */
    copyToRead(name: string) {
      const shard = shardOf(resolve(name))
      const removed = shard.removedNode()
      if (removed === undefined || !isOutdatedRead()) {
        return { documents: shard.documents(), searchable: shard.searchable() }
      }
      if (!removed.knows(name)) throw indexMissing(name)
      return removed
    },

    /** Those of writers end before the next request, since a fence waits for them. */
    runningBulks(): (string | undefined)[] {
      const running = [...shards.values()].flatMap((shard) => [...shard.running])
      isSwapUnpolled = false
      cluster.endBulks(({ opaqueId }) => opaqueId !== undefined)
      return running.map(({ opaqueId }) => opaqueId)
    },

    refresh(names: readonly string[]): void {
      for (const name of names) shardOf(resolve(name)).refresh()
    },
  }
  return cluster

  function resolve(name: string): string {
    return aliases.get(name) ?? name
  }

  function shardOf(index: string) {
    const shard = shards.get(index)
    if (shard === undefined) throw indexMissing(index)
    return shard
  }

  /**
   * The bulk is late. Excluded by a known limit of `fence.md`: a version record that is late ends
   * the repetition of its change. So it is never delivered.
   */
  function delay(bulk: LateBulk): void {
    if (!bulk.alias.startsWith('order-heads')) late.push(bulk)
  }

  async function runBulk(index: string, { items, opaqueId }: MemoryBulk, turn: BulkTurn) {
    const shard = shardOf(index)
    const task = shard.start(items, opaqueId, turn.applied)
    await turn.during()
    if (turn.fate === 'running' || task.state === 'dropped') throw timeout()
    while (isSwapUnpolled && task.state === 'running') await null // Like endBulks().
    shard.end(task)
    if (turn.fate === 'unanswered') throw timeout()
    return task.results
  }
}

const timeout = () => new errors.TimeoutError('no response', {} as never)

const indexMissing = (reason: string) =>
  toResponseError(NOT_FOUND, { error: { type: INDEX_NOT_FOUND, reason } })
