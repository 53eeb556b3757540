import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HOST, type ProxyUnderTest, startProxy } from '../support/http/proxy.ts'
import { readResponses } from '../support/http/raw-http.ts'
import { openServedStore, type Served, type ServedStore } from '../support/stores/served-store.ts'
import { emptyResponse } from './empty-response.ts'

const LIMIT = 15_000
const AT_ONCE = 100

let store: ServedStore
let service: Served
beforeAll(async () => {
  store = openServedStore()
  service = await store.serve()
})
afterAll(() => store.close())

/** Runs the edge during `use`. */
async function withEdge(
  settings: Record<string, string>,
  use: (edge: ProxyUnderTest) => Promise<void>,
) {
  const edge = await startProxy([service], settings)
  try {
    await use(edge)
  } finally {
    await edge.stop()
  }
}

it('the edge accepts request 15,000 of an address and rejects number 15,001', async () => {
  await withEdge({}, async (edge) => {
    const others: number[] = []
    for (let sent = 0; sent < LIMIT - 1; sent += AT_ONCE) {
      const count = Math.min(AT_ONCE, LIMIT - 1 - sent)
      await Promise.all(
        Array.from({ length: count }, async () => {
          const { status = 0 } = await edge.call('/x')
          if (status !== 404) others.push(status)
        }),
      )
    }
    expect(others).toEqual([])
    const last = await edge.call('/x')
    expect([last.status, last.headers]).toEqual([
      404,
      expect.objectContaining({ 'request-id': expect.any(String) }),
    ])
    expect(await edge.call('/x')).toEqual(emptyResponse(429, { 'retry-after': '300' }))
  })
}, 280_000) // Less than the 300 s in which the edge counts them.

describe('the volume limit', () => {
  const FEW = { EDGE_VOLUME_REQUESTS: '2', EDGE_PROXY_PROTOCOL_FROM: '127.0.0.1' }

  /** The statuses of sequential requests from these addresses. */
  async function statusesFrom(
    edge: ProxyUnderTest,
    addresses: readonly string[],
  ): Promise<unknown[]> {
    const statuses: unknown[] = []
    for (const address of addresses) {
      const socket = await edge.openFrom(address)
      socket.write(`GET /x HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
      const [answer] = await readResponses(socket, 1)
      statuses.push(answer?.status)
    }
    return statuses
  }

  it.each([
    ['by address', ['192.0.2.1', '192.0.2.1', '192.0.2.1'], 429],
    ['each address separately', ['192.0.2.1', '192.0.2.1', '192.0.2.2'], 404],
    ['by the /64 of IPv6', ['2001:db8:1:1::1', '2001:db8:1:1::2', '2001:db8:1:1:f:f:f:f'], 429],
    ['each /64 separately', ['2001:db8:1:1::1', '2001:db8:1:1::1', '2001:db8:1:2::1'], 404],
    ['an IPv4-mapped address as IPv4', ['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.1'], 429],
    [
      'each mapped address separately',
      ['::ffff:192.0.2.1', '::ffff:192.0.2.1', '::ffff:192.0.2.2'],
      404,
    ],
    [
      'an address behind NAT64',
      ['64:ff9b::c000:201', '64:ff9b::c000:201', '64:ff9b::c000:201'],
      429,
    ],
    [
      'each address behind NAT64 separately',
      ['64:ff9b::c000:201', '64:ff9b::c000:201', '64:ff9b::c000:202'],
      404,
    ],
    [
      'another translation prefix by its /64',
      ['64:ff9b:1::c000:201', '64:ff9b:1::c000:201', '64:ff9b:1::c000:202'],
      429,
    ],
  ])('the volume limit counts %s', async (_, addresses, third) => {
    await withEdge(FEW, async (edge) => {
      expect(await statusesFrom(edge, addresses)).toEqual([404, 404, third])
    })
  })

  it('the volume limit counts all connections and malicious requests', async () => {
    await withEdge({ EDGE_VOLUME_REQUESTS: '2' }, async (edge) => {
      expect((await edge.call('/.git')).status).toBe(403)
      expect((await edge.call('/.git')).status).toBe(403)
      expect((await edge.call('/.git')).status).toBe(429)
    })
  })

  it('the volume limit counts rejected requests, so continued requests stay rejected', async () => {
    await withEdge({ EDGE_VOLUME_REQUESTS: '2', EDGE_VOLUME_SECONDS: '3' }, async (edge) => {
      await Promise.all([edge.call('/x'), edge.call('/x')])
      const statuses = new Set<unknown>()
      // Late in the second period, when the first counts for little.
      const end = performance.now() + 5_000
      while (performance.now() < end) statuses.add((await edge.call('/x')).status)
      expect([...statuses]).toEqual([429])
    })
  })

  it('the volume limit resets after a pause of Retry-After', async () => {
    await withEdge({ EDGE_VOLUME_REQUESTS: '2', EDGE_VOLUME_SECONDS: '2' }, async (edge) => {
      const burst = await Promise.all(Array.from({ length: 50 }, () => edge.call('/x')))
      expect(burst.at(-1)).toEqual(emptyResponse(429, { 'retry-after': '2' }))
      await sleep(3_000)
      expect((await edge.call('/x')).status).toBe(404)
    })
  })
})
