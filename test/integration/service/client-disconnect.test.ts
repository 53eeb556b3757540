import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildApp } from '../../../src/app.ts'
import { type FaultyProxy, startFaultyProxy } from '../../harness/faulty-proxy/faulty-proxy.ts'
import { captureLog } from '../../support/http/captured-log.ts'
import { metricIn } from '../../support/http/metric.ts'
import { openSocket, sendRaw } from '../../support/http/raw-http.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { openTestServices } from '../../support/stores/services.ts'

let proxies: FaultyProxy[]
let test: Awaited<ReturnType<typeof openTestServices>>
let app: FastifyInstance
let port: number
let lines: string[]
let key: string

beforeEach(async () => {
  const nodes = (process.env['OPENSEARCH_URL'] ?? '').split(',').map((url) => new URL(url))
  proxies = await Promise.all(nodes.map((node) => startFaultyProxy(Number(node.port))))
  test = await openTestServices({
    OPENSEARCH_URL: proxies.map((proxy) => `http://127.0.0.1:${proxy.port}`).join(),
    MAX_CONCURRENT_REQUESTS: '1',
    RATE_LIMIT_CAPACITY: '1000',
  })
  // Otherwise a periodic flush would open a connection that a test counts.
  test.services.usage.record = () => {}
  const log = captureLog()
  lines = log.lines
  app = buildApp(test.config, test.services, {
    logger: log.logger,
    metrics: test.metrics,
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as AddressInfo).port
  await test.load([sourceOrder()])
  const issued = await test.issue()
  key = issued.key
  // Otherwise the first request would write the key's use while the test cuts connections.
  await test.services.keys.update(issued.record.digest, { lastValidAt: Date.now() })
})
afterEach(async () => {
  delay(0)
  await app.close()
  await test.close()
  for (const proxy of proxies) await proxy.close()
})

const bytesOf = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`
const statusOf = async (path: string) => (await sendRaw(port, bytesOf(path), 1))[0]?.status
const openToOpenSearch = () => proxies.reduce((sum, proxy) => sum + proxy.connections().open, 0)

/** Delays every later response of OpenSearch. */
function delay(ms: number) {
  for (const proxy of proxies) proxy.delayMs = ms
}

async function sendRequest(path: string) {
  const socket = await openSocket(port)
  socket.write(bytesOf(path))
  return socket
}

describe.each([
  ['search', '/v1/orders'],
  ['search', '/v1/orders?sort=updated_at_asc'],
  ['get_order', '/v1/orders/ord_1'],
])('a client that disconnects during %s', (operation, path) => {
  it(`a disconnect cancels the search and releases its slot: ${path}`, async () => {
    expect(await statusOf(path)).toBe(200)
    // Closes all connections except that of the search.
    for (const proxy of proxies) proxy.resetConnections()
    await expect.poll(openToOpenSearch).toBe(0)
    delay(30_000)
    const socket = await sendRequest(path)
    await expect.poll(openToOpenSearch).toBe(1)
    expect(await statusOf(path)).toBe(503) // The only slot is in use.

    lines.length = 0
    socket.destroy()
    await expect.poll(openToOpenSearch).toBe(0)
    delay(0)
    await expect.poll(() => statusOf(path)).toBe(200)

    const levels = lines.map((line) => JSON.parse(line)).map(({ msg, level }) => [msg, level])
    expect(levels.filter(([msg]) => msg !== 'request')).toEqual([])
    const metrics = await test.metrics.registry.metrics()
    const count = (outcome: string) =>
      metricIn(
        metrics,
        `opensearch_request_duration_seconds_count{operation="${operation}",outcome="${outcome}"}`,
      )
    expect([count('abandoned'), count('failed')]).toEqual([1, 0])
  })
})

it('a disconnect during a key lookup does not affect other requests with that key', async () => {
  test.services.keys.find = (() => {
    const { find } = test.services.keys
    return async (...args: Parameters<typeof find>) => {
      await sleep(300)
      return find(...args)
    }
  })()
  app.log.level = 'silent'
  const first = await sendRequest('/v1/orders')
  first.destroy()
  await expect.poll(() => statusOf('/v1/orders')).toBe(200)
})
