import { type FaultyProxy, startFaultyProxy } from '../../test/harness/faulty-proxy/faulty-proxy.ts'
import { startOpenSearch } from '../../test/harness/services/opensearch/opensearch.ts'
import { startRedis } from '../../test/harness/services/redis.ts'
import type { FaultyService } from './faults.ts'

/** OpenSearch with two nodes and Redis, with a proxy before each node. */
export interface ProxiedServices {
  /** The addresses without the proxies. */
  direct: Readonly<Record<string, string>>
  /** The addresses of the proxies. */
  proxied: Readonly<Record<string, string>>
  proxies: Readonly<Record<FaultyService, readonly FaultyProxy[]>>
  stop(): Promise<void>
}

const HEAP_MB = 512

/** Starts both until `stop` or the end of this process. Throws without a JDK, Maven or Redis. */
export async function startProxiedServices(): Promise<ProxiedServices> {
  const redis = await startRedis()
  const openSearch = await startOpenSearch({ heapMb: HEAP_MB, purpose: 'measurement' }).catch(
    async (error) => {
      await redis.stop()
      throw error
    },
  )
  const ports = openSearch.nodes.map(({ url }) => Number(new URL(url).port))
  const nodes = await Promise.all(ports.map((port) => startFaultyProxy(port)))
  const counters = await startFaultyProxy(redis.port)
  return {
    direct: { OPENSEARCH_URL: openSearch.url, REDIS_URL: redis.url },
    proxied: {
      OPENSEARCH_URL: nodes.map(({ port }) => `http://127.0.0.1:${port}`).join(),
      REDIS_URL: `redis://127.0.0.1:${counters.port}`,
    },
    proxies: { OpenSearch: nodes, Redis: [counters] },
    async stop() {
      await Promise.all([...nodes, counters].map((proxy) => proxy.close()))
      await openSearch.stop()
      await redis.stop()
    },
  }
}
