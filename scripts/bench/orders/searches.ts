import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { noFilters } from '../../../src/orders/filters/filters.ts'
import { readPage } from '../../../src/orders/paging.ts'
import { connectOpenSearch } from '../../../src/stores/opensearch/client/client.ts'
import { indexNames } from '../../../src/stores/opensearch/indices/index-names.ts'
import { createOpenSearchOrderStore } from '../../../src/stores/opensearch/read/order-store.ts'
import type { LoadRequest } from '../measuring/load.ts'
import { type Place, positionBefore } from './cases.ts'

const NO_HITS = JSON.stringify({
  took: 0,
  timed_out: false,
  _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
  hits: { max_score: null, hits: [] },
})
const DEADLINE_MS = 10_000
/** Headers of the connection, not of the search. */
const CONNECTION_HEADERS = ['host', 'connection', 'keep-alive', 'content-length']

interface SearchPlan {
  /** The requests carry the credentials of these. */
  urls: readonly string[]
  index: string
  places: readonly Place[]
  limit: number
}

/**
 * The searches that the service sends for the pages after `places`, byte for byte: its own store
 * sends them to a server that records them. So the raw search never differs from that of the
 * service.
 */
export async function recordSearches({ urls, index, places, limit }: SearchPlan) {
  const recorded: LoadRequest[] = []
  const server = createServer(async (request, response) => {
    recorded.push(await loadRequest(request))
    response.setHeader('content-type', 'application/json').end(NO_HITS)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const client = connectOpenSearch({ urls: [withCredentialsOf(urls, port)] })
  try {
    const names = { ...indexNames(''), orders: index }
    const store = createOpenSearchOrderStore({ client, names, deadlineMs: DEADLINE_MS })
    for (const place of places) {
      const state = { after: positionBefore(place), dated: null, mark: null, nextMark: null }
      await readPage(store, { ...place, filters: noFilters }, state, limit)
    }
  } finally {
    await client.close()
    server.close()
  }
  if (recorded.length !== places.length) throw new Error('a page took more than one search')
  return recorded
}

async function loadRequest(request: IncomingMessage): Promise<LoadRequest> {
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    typeof value === 'string' && !CONNECTION_HEADERS.includes(name) ? [[name, value]] : [],
  )
  return {
    method: request.method === 'GET' ? 'GET' : 'POST',
    path: request.url ?? '/',
    headers: Object.fromEntries(headers),
    body: await buffer(request),
  }
}

function withCredentialsOf(urls: readonly string[], port: number): string {
  const parsed = urls.map((url) => new URL(url))
  const { username = '', password = '' } = parsed.find((url) => url.username !== '') ?? {}
  return Object.assign(new URL(`http://127.0.0.1:${port}`), { username, password }).href
}
