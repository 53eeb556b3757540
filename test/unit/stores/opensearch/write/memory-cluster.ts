import { errors } from '@opensearch-project/opensearch'
import {
  type OpenSearch,
  toResponseError,
} from '../../../../../src/stores/opensearch/client/client.ts'
import { isTombstone } from '../../../../../src/stores/opensearch/client/documents/tombstone.ts'
import { INDEX_NOT_FOUND, NOT_FOUND } from '../../../../../src/stores/opensearch/client/errors.ts'
import { type AliasAction, createMemoryAliases, type IndexName } from './memory-aliases.ts'
import { createMemoryShard, type Operation, type ShardItem } from './memory-shard.ts'

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
  /** The writer dies. */
  isCrash: boolean
}

interface LateBulk {
  index: IndexName | undefined
  alias: string
  items: readonly ShardItem[]
  opaqueId: string | undefined
}

/** More requests than any history needs, so the writer never ends. */
const MAX_REQUESTS = 3_000
const COMPLETE = { total: 1, successful: 1, failed: 0 }

/**
 * A cluster with the indices of orders, and clients of it. `nextTurn`: what happens to each bulk.
 * `isOutdatedRead`: whether a node that left the cluster responds to the next read.
 */
export function createMemoryCluster(nextTurn: () => BulkTurn, isOutdatedRead: () => boolean) {
  const shards = {
    'orders-v1': createMemoryShard(),
    'order-heads-v1': createMemoryShard(),
    'order-events-v1': createMemoryShard(),
  }
  const aliases = createMemoryAliases()
  const late: LateBulk[] = []
  let isSwapUnpolled = false
  let requests = 0

  const cluster = {
    shards,

    /** The primary of an index leaves the cluster. */
    failOver(index: IndexName, kept: number, isRepeated: boolean): void {
      const known = aliases.names()
      shards[index].failOver(kept, isRepeated, (alias) => known.has(alias))
    },

    /** A late bulk arrives, and the primary applies this many of its items. */
    deliver(at: number, count: number): void {
      const [bulk] = late.splice(at % Math.max(late.length, 1), 1)
      if (bulk === undefined) return
      const index = bulk.index ?? aliases.get(bulk.alias)
      if (index !== undefined) shards[index].start(bulk.items, bulk.opaqueId, count)
    },

    /**
     * The bulks that run end. Excluded by the last known limit of `fence.md`: between the swap of
     * the fence and its first read of the task list.
     */
    endBulks(): void {
      if (isSwapUnpolled) return
      for (const shard of Object.values(shards)) for (const task of shard.running) shard.end(task)
    },

    /** Everything in flight ends, and all of it is searchable. */
    heal(): void {
      while (late.length > 0) cluster.deliver(0, 0)
      isSwapUnpolled = false
      cluster.endBulks()
      for (const shard of Object.values(shards)) shard.refresh()
    },

    /** A client of a writer, whose requests have no effect once `isDead`. */
    connect(isDead: () => boolean, crash: () => void): OpenSearch {
      const client = {
        bulk: guarded(async (request: { index: string; body: Buffer }, call?: CallOptions) => {
          const turn = nextTurn()
          await turn.before()
          const items = parseItems(request.body)
          const bulk = { alias: request.index, index: undefined, items, opaqueId: call?.opaqueId }
          const index = aliases.get(request.index)
          try {
            if (turn.fate === 'in transit') delay(bulk)
            else if (index === undefined) throw indexMissing(request.index)
            else if (turn.fate === 'held') delay({ ...bulk, index })
            else return { items: await runBulk(index, bulk, turn) }
            throw timeout()
          } finally {
            if (turn.isCrash) crash()
          }
        }),
        mget: guarded(async ({ index, body }: { index: string; body: { docs: Address[] } }) => {
          const { documents } = copyToRead(index)
          return { docs: body.docs.map(({ _id }) => toGetResponse(_id, documents.get(_id))) }
        }),
        search: guarded(async ({ index, body }: { index: string; body: object }) => {
          const ids = JSON.stringify(body).match(/"terms":\{"id":(\[[^\]]*\])/)?.[1] ?? '[]'
          const found = [...copyToRead(index).searchable.values()].filter(
            ({ source }) => !isTombstone(source) && JSON.parse(ids).includes(source['id']),
          )
          const hits = found.map(({ id, source }) => ({
            _id: id,
            sort: [source['account_id'], source['id']],
          }))
          return { timed_out: false, _shards: COMPLETE, hits: { hits } }
        }),
        count: guarded(async () => ({ count: 0, _shards: COMPLETE })),
        tasks: { list: guarded(async () => listTasks()) },
        indices: {
          getAlias: guarded(async ({ name }: { name: string[] }) => aliases.byIndex(name)),
          updateAliases: guarded(async ({ body }: { body: { actions: AliasAction[] } }) => {
            isSwapUnpolled = aliases.change(body.actions) || isSwapUnpolled
            return { acknowledged: true }
          }),
          refresh: guarded(async ({ index }: { index: IndexName[] }) => {
            for (const name of index) shards[name].refresh()
            return { _shards: COMPLETE }
          }),
        },
      }
      return client as unknown as OpenSearch

      function guarded<A extends unknown[]>(send: (...given: A) => Promise<object>) {
        return async (...given: A) => {
          if (isDead()) return new Promise<never>(() => {})
          if (++requests > MAX_REQUESTS) throw new Error('the writer does not end')
          const response = await Promise.allSettled([send(...given)])
          if (isDead()) return new Promise<never>(() => {})
          if (response[0].status === 'rejected') throw response[0].reason
          return { body: response[0].value }
        }
      }
    },
  }
  return cluster

  /**
   * The bulk is late. Excluded by a known limit of `fence.md`: a version record that is late ends
   * the repetition of its change. So it is never delivered.
   */
  function delay(bulk: LateBulk): void {
    if (!bulk.alias.startsWith('order-heads')) late.push(bulk)
  }

  async function runBulk(index: IndexName, { items, opaqueId }: LateBulk, turn: BulkTurn) {
    const shard = shards[index]
    const task = shard.start(items, opaqueId, turn.applied)
    await turn.during()
    if (turn.fate === 'running' || task.state === 'dropped') throw timeout()
    while (isSwapUnpolled && task.state === 'running') await null // Like endBulks().
    shard.end(task)
    if (turn.fate === 'unanswered') throw timeout()
    return task.results.map((result) => ({ index: result }))
  }

  /** The copy that responds: the primary, or that of a node that left the cluster. */
  function copyToRead(alias: string) {
    const index = aliases.get(alias)
    if (index === undefined) throw indexMissing(alias)
    const shard = shards[index]
    const removed = shard.removedNode()
    if (removed === undefined || !isOutdatedRead()) {
      return { documents: shard.documents(), searchable: shard.searchable() }
    }
    if (!removed.knows(alias)) throw indexMissing(alias)
    return removed
  }

  /** The listed bulks end before the next request. */
  function listTasks() {
    const tasks = Object.values(shards)
      .flatMap(({ running }) => [...running])
      .map(({ opaqueId }) => ({ headers: { 'X-Opaque-Id': opaqueId } }))
    isSwapUnpolled = false
    cluster.endBulks()
    return { nodes: { n1: { tasks: Object.fromEntries(tasks.entries()) } } }
  }
}

interface CallOptions {
  opaqueId?: string
}

interface Address {
  _id: string
}

function parseItems(body: Buffer): ShardItem[] {
  const lines = body.toString().trimEnd().split('\n')
  return lines.flatMap((line, at) => {
    if (at % 2 === 1) return []
    const [[name, address] = []] = Object.entries(JSON.parse(line))
    return [{ name, ...Object(address), source: JSON.parse(lines[at + 1] ?? '') } as ShardItem]
  })
}

function toGetResponse(_id: string, found: Operation | undefined) {
  if (found === undefined) return { _id, found: false }
  const { seqNo: _seq_no, term: _primary_term, source: _source } = found
  return { _id, found: true, _seq_no, _primary_term, _source }
}

const timeout = () => new errors.TimeoutError('no response', {} as never)

const indexMissing = (reason: string) =>
  toResponseError(NOT_FOUND, { error: { type: INDEX_NOT_FOUND, reason } })
