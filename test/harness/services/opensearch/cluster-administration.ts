import { setTimeout as sleep } from 'node:timers/promises'
import { type OpenSearch, read, write } from '../../../../src/stores/opensearch/client/client.ts'

export interface IndexFigures {
  documents: number
  bytes: number
  segments: number
}

/** The administration of the cluster that the bench needs besides searches and documents. */
export type Cluster = ReturnType<typeof createCluster>

const DEADLINE_MS = 600_000
const POLL_MS = 500
/** One merge starts the next, so a single reading without merges does not prove that all ended. */
const QUIET_READINGS = 4

export function createCluster(client: OpenSearch) {
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

  /** Makes loaded documents visible, and waits until no merge runs any more. */
  async function settle(index: string): Promise<void> {
    await request('POST', `/${index}/_refresh`)
    for (let quiet = 0; quiet < QUIET_READINGS; await sleep(POLL_MS)) {
      quiet = (await stats(index)).merges.current === 0 ? quiet + 1 : 0
    }
    await request('POST', `/${index}/_flush`) // Merged segments stay on disk until then.
  }

  return {
    client,
    settle,
    create: (index: string, body: object) => request<void>('PUT', `/${index}`, body),
    refresh: (index: string) => request<void>('POST', `/${index}/_refresh`),

    /** Merges each shard into at most so many segments. */
    async merge(index: string, segments = 1): Promise<void> {
      await request('POST', `/${index}/_forcemerge?max_num_segments=${segments}`)
      await settle(index)
    },

    async figures(index: string): Promise<IndexFigures> {
      const { docs, store, segments } = await stats(index)
      return { documents: docs.count, bytes: store.size_in_bytes, segments: segments.count }
    },

    /** Searches partly served from the query cache: production hardly ever hits it. */
    async queryCacheHits(index: string): Promise<number> {
      return (await stats(index)).query_cache.hit_count
    },

    /** Deletes all indices and templates whose name begins with the prefix. */
    async remove(prefix: string): Promise<void> {
      type Names = { index: string }[]
      const indices = await request<Names>('GET', `/_cat/indices/${prefix}*?format=json&h=index`)
      for (const { index } of indices) await request('DELETE', `/${index}`)
      // By list, since OpenSearch responds 404 for the name of a template that does not exist.
      const { index_templates } = await request<Templates>('GET', '/_index_template')
      for (const { name } of index_templates) {
        if (name.startsWith(prefix)) await request('DELETE', `/_index_template/${name}`)
      }
    },

    async version(): Promise<{ version: string; nodes: number }> {
      const root = await request<{ version: { number: string } }>('GET', '/')
      const health = await request<{ number_of_data_nodes: number }>('GET', '/_cluster/health')
      return { version: root.version.number, nodes: health.number_of_data_nodes }
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
