import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { createGenerator, type LoadRequest } from '../measuring/generator.ts'
import { startApi } from '../measuring/running-api.ts'

export interface ShedCost {
  /** Of the API's process, an answer. */
  cpuMicros: number
  perSecond: number
  /** What was anything but a 503 → how often. */
  failures: Record<string, number>
}

interface ShedCostOptions {
  settings: Readonly<Record<string, string>>
  request: LoadRequest
  connections: number
  seconds: number
  signal: AbortSignal
}

const WARM_UP_MS = 1_500
const SHED = 'status 503'

/**
 * What it costs to shed and nothing else: the only place there is taken by a request that waits for an
 * OpenSearch that says nothing, so all others are turned away.
 */
export async function measureShedCost(options: ShedCostOptions): Promise<ShedCost> {
  const { settings, request, connections, seconds, signal } = options
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const api = await startApi({
    ...settings,
    OPENSEARCH_URL: `http://127.0.0.1:${port}`,
    REQUEST_DEADLINE_MS: '60000',
    SEARCH_DEADLINE_MS: '60000',
    MAX_CONCURRENT_REQUESTS: '1',
  })
  const generator = createGenerator({ origins: [api.origin] }, connections)
  const holding = new AbortController()
  try {
    const held = fetch(`${api.origin}${request.path}`, {
      headers: request.headers,
      signal: holding.signal,
    })
    held.catch(() => {}) // It ends with the measurement.
    await generator.run([request], WARM_UP_MS, signal)
    const before = await api.cpuMicros()
    const { answers, perSecond, failures } = await generator.run([request], 1000 * seconds, signal)
    const cpuMicros = ((await api.cpuMicros()) - before) / answers
    const { [SHED]: shed = 0, ...others } = failures
    const served = answers - Object.values(failures).reduce((sum, times) => sum + times, 0)
    if (shed === 0) throw new Error('nothing was shed')
    return { cpuMicros, perSecond, failures: served > 0 ? { ...others, served } : others }
  } finally {
    holding.abort()
    await generator.close()
    await api.stop()
    silent.close()
  }
}
