import type { OpenSearch } from '../../../../../src/stores/opensearch/client/client.ts'
import { type AliasAction, type AliasesByIndex, matchesAny } from './memory-aliases.ts'
import type { MemoryCluster } from './memory-cluster.ts'
import { findDocuments, type Query, type SearchBody, searchHits } from './memory-search.ts'
import type { Documents, Operation, ShardItem } from './memory-shard.ts'

/** A process, whose requests have no effect once it is dead. */
export interface MemoryProcess {
  isDead(): boolean
  crash(): void
}

/** More requests than any history needs, so the writer never ends. */
const MAX_REQUESTS = 3_000
const COMPLETE = { total: 1, successful: 1, failed: 0 }

/** A client of a cluster: parses requests and renders responses. */
export function createMemoryClient(
  cluster: MemoryCluster,
  { isDead, crash }: MemoryProcess,
  nowMs: () => number,
): OpenSearch {
  const { aliases } = cluster
  let requests = 0
  const client = {
    bulk: guarded(async (request: { index: string; body: Buffer }, call?: CallOptions) => {
      const items = parseItems(request.body)
      const bulk = { alias: request.index, items, opaqueId: call?.opaqueId }
      const results = await cluster.bulk(bulk, crash)
      return { items: results.map((result) => ({ index: result })) }
    }),
    mget: guarded(async ({ index, body }: MgetRequest) => mget(index, body.docs)),
    search: guarded(async ({ index, body }: { index: string; body: SearchBody }) => ({
      timed_out: false,
      _shards: COMPLETE,
      hits: { hits: searchHits(cluster.copyToRead(index).searchable, body) },
    })),
    count: guarded(async ({ index, body }: { index: string; body: { query: Query } }) => ({
      count: findDocuments(cluster.copyToRead(index).searchable, body.query).length,
      _shards: COMPLETE,
    })),
    tasks: { list: guarded(async () => toTaskList(cluster.runningBulks())) },
    indices: {
      getAlias: guarded(async ({ index, name }: { index: string[]; name?: string[] }) =>
        name === undefined ? indicesOf(index) : aliases.byIndex(name),
      ),
      get: guarded(async ({ index }: { index: string }) => indicesOf([index])),
      getSettings: guarded(async ({ index }: { index: string }) => ({
        [index]: { settings: { index: { number_of_shards: 1, creation_date: createdAt(index) } } },
      })),
      updateAliases: guarded(async ({ body }: { body: { actions: AliasAction[] } }) => {
        cluster.changeAliases(body.actions)
        return { acknowledged: true }
      }),
      refresh: guarded(async ({ index }: { index: string[] }) => {
        cluster.refresh(index)
        return { _shards: COMPLETE }
      }),
      create: guarded(async ({ index, body }: { index: string; body: { aliases: object } }) => {
        cluster.createIndex(index, Object.keys(body.aliases)[0] ?? '', nowMs())
        return { acknowledged: true, shards_acknowledged: true }
      }),
      delete: guarded(async ({ index }: { index: string }) => {
        cluster.removeIndex(index)
        return { acknowledged: true }
      }),
    },
    transport: { getConnection: () => ({ sendRaw }) },
    connectionPool: { markAlive() {}, markDead() {} },
  }
  return client as unknown as OpenSearch

  function createdAt(index: string): number {
    return cluster.shard(aliases.get(index) ?? index).createdMs
  }

  /** The indices that match, with all their aliases. */
  function indicesOf(patterns: readonly string[]): AliasesByIndex {
    const all = aliases.byIndex(['*'])
    const found = cluster.indices().filter((index) => matchesAny(index, patterns))
    return Object.fromEntries(found.map((index) => [index, all[index] ?? { aliases: {} }]))
  }

  function mget(index: string, docs: readonly Address[]) {
    const { documents } = cluster.copyToRead(index)
    return { docs: docs.map(({ _id }) => toGetResponse(_id, documents)) }
  }

  /** An mget, whose sources are read as bytes. */
  async function sendRaw({ path, body }: { path: string; body: string }) {
    const [, index = ''] = path.split('/')
    const send = guarded(async () => mget(index, JSON.parse(body).docs))
    const response = await send()
    return { status: 200, bytes: Buffer.from(JSON.stringify(response.body)) }
  }

  function guarded<A extends unknown[]>(send: (...given: A) => Promise<object>) {
    return async (...given: A) => {
      if (isDead()) return new Promise<never>(() => {})
      if (++requests > MAX_REQUESTS) throw new Error('the process does not end')
      const response = await Promise.allSettled([send(...given)])
      if (isDead()) return new Promise<never>(() => {})
      if (response[0].status === 'rejected') throw response[0].reason
      return { body: response[0].value }
    }
  }
}

interface CallOptions {
  opaqueId?: string
}

interface Address {
  _id: string
}

interface MgetRequest {
  index: string
  body: { docs: Address[] }
}

function parseItems(body: Buffer | string): ShardItem[] {
  const lines = body.toString().trimEnd().split('\n')
  return lines.flatMap((line, at) => {
    if (at % 2 === 1) return []
    const [[name, address] = []] = Object.entries(JSON.parse(line))
    return [{ name, ...Object(address), source: JSON.parse(lines[at + 1] ?? '') } as ShardItem]
  })
}

function toGetResponse(_id: string, documents: Documents) {
  const found: Operation | undefined = documents.get(_id)
  if (found === undefined) return { _id, found: false }
  const { seqNo: _seq_no, term: _primary_term, version: _version, source: _source } = found
  return { _id, found: true, _version, _seq_no, _primary_term, _source }
}

function toTaskList(opaqueIds: readonly (string | undefined)[]) {
  const tasks = opaqueIds.map((id) => ({ headers: { 'X-Opaque-Id': id } }))
  return { nodes: { n1: { tasks: Object.fromEntries(tasks.entries()) } } }
}
