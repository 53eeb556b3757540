import { setTimeout as sleep } from 'node:timers/promises'
import { type OpenSearch, read, write } from '../../../src/stores/opensearch/client/client.ts'

/** What an index has become of what was loaded into it. */
export interface IndexFacts {
  documents: number
  bytes: number
  segments: number
}

/** What the bench asks of the cluster besides searches and documents. */
export interface Cluster {
  readonly client: OpenSearch
  create(index: string, body: object): Promise<void>
  /** Makes what was loaded visible. */
  refresh(index: string): Promise<void>
  /** The same, and waits until nothing is being merged any more. */
  settle(index: string): Promise<void>
  /** Merges each shard into one segment, or into no more than so many. */
  merge(index: string, segments?: number): Promise<void>
  facts(index: string): Promise<IndexFacts>
  /** Searches that took a part of their answer from the cache of queries: hardly any should. */
  queryCacheHits(index: string): Promise<number>
  /** All indices and templates whose name begins so. */
  remove(prefix: string): Promise<void>
  version(): Promise<{ version: string; nodes: number }>
}

const DEADLINE_MS = 600_000
const POLL_MS = 500
/** One merge starts the next, so one look that sees none does not tell. */
const QUIET_LOOKS = 4

export function createCluster(client: OpenSearch): Cluster {
  async function request<T>(method: string, path: string, body?: object): Promise<T> {
    const call = method === 'GET' ? read : write
    return (await call(DEADLINE_MS, (options) =>
      client.transport.request({ method, path, ...(body && { body: body as never }) }, options),
    )) as T
  }

  async function stats(index: string): Promise<Stats> {
    const { _all } = await request<{ _all: { primaries: Stats } }>('GET', `/${index}/_stats`)
    return _all.primaries
  }

  async function settle(index: string): Promise<void> {
    await request('POST', `/${index}/_refresh`)
    for (let quiet = 0; quiet < QUIET_LOOKS; await sleep(POLL_MS)) {
      quiet = (await stats(index)).merges.current === 0 ? quiet + 1 : 0
    }
    await request('POST', `/${index}/_flush`) // What was merged away stays on disk until then.
  }

  return {
    client,

    async create(index, body) {
      await request('PUT', `/${index}`, body)
    },

    async refresh(index) {
      await request('POST', `/${index}/_refresh`)
    },

    settle,

    async merge(index, segments = 1) {
      await request('POST', `/${index}/_forcemerge?max_num_segments=${segments}`)
      await settle(index)
    },

    async facts(index) {
      const { docs, store, segments } = await stats(index)
      return { documents: docs.count, bytes: store.size_in_bytes, segments: segments.count }
    },

    async queryCacheHits(index) {
      return (await stats(index)).query_cache.hit_count
    },

    async remove(prefix) {
      type Names = { index: string }[]
      const indices = await request<Names>('GET', `/_cat/indices/${prefix}*?format=json&h=index`)
      for (const { index } of indices) await request('DELETE', `/${index}`)
      // Asked for by name, a template that is not there would be an error.
      const { index_templates } = await request<Templates>('GET', '/_index_template')
      for (const { name } of index_templates) {
        if (name.startsWith(prefix)) await request('DELETE', `/_index_template/${name}`)
      }
    },

    async version() {
      const root = await request<{ version: { number: string } }>('GET', '/')
      const { number_of_data_nodes } = await request<{ number_of_data_nodes: number }>(
        'GET',
        '/_cluster/health',
      )
      return { version: root.version.number, nodes: number_of_data_nodes }
    },
  }
}

interface Templates {
  index_templates: { name: string }[]
}

interface Stats {
  docs: { count: number }
  store: { size_in_bytes: number }
  segments: { count: number }
  merges: { current: number }
  query_cache: { hit_count: number }
}
