import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { createMetrics } from '../../src/observability/metrics/registry.ts'
import { captureLog } from '../support/http/captured-log.ts'
import { openSocket } from '../support/http/raw-http.ts'
import { ROOMY } from '../support/http/test-app.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { openTestServices } from '../support/stores/services.ts'

const { logger, lines } = captureLog()

const test = await openTestServices(ROOMY)
const app = buildApp(test.config, test.services, { logger, metrics: createMetrics() })

beforeAll(async () => {
  // More than the socket buffers hold.
  const tracking = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, n) => [`key_${n}`, 'x'.repeat(1_000)]),
  )
  await test.load(
    Array.from({ length: 8 }, (_, n) => sourceOrder({ id: `ord_large_${n}`, tracking })),
  )
  await app.listen({ port: 0 })
})
afterAll(async () => {
  await app.close()
  await test.close()
})

const get = (path: string, key: string) =>
  `GET ${path} HTTP/1.1\r\nHost: local\r\nAuthorization: Bearer ${key}\r\n\r\n`

/** Sends requests for more than the socket buffers hold, and resets within the responses. */
async function abandon(requests: string): Promise<void> {
  const socket: Socket = await openSocket((app.server.address() as AddressInfo).port)
  socket.write(requests)
  await once(socket, 'readable')
  socket.resetAndDestroy()
}

const abandonPage = (key: string) => abandon(get('/v1/orders', key))

const requests = () => lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')

it('the request log has a line also for a response that its client did not read to the end', async () => {
  const { key, record } = await test.issue()
  lines.length = 0
  await abandonPage(key)
  await expect.poll(requests).toHaveLength(1)
  expect(requests()[0]).toMatchObject({
    request_id: expect.stringMatching(/^req_/),
    method: 'GET',
    route: '/v1/orders',
    status: 200,
    abandoned: true,
    duration_ms: expect.any(Number),
    account_id: 'acc_1',
    key_id: record.keyId,
  })
})

it('the usage of a key counts also a response that its client did not read to the end', async () => {
  const { key, record } = await test.issue()
  await abandonPage(key)
  const days = { fromDay: '2000-01-01', toDay: '9999-12-31' }
  async function counted() {
    await test.services.usage.flush()
    const all = await test.services.managementStores.usage.list({ accountId: 'acc_1', ...days })
    return all.find(({ keyId }) => keyId === record.keyId)?.byStatus
  }
  await expect.poll(counted).toEqual({ 200: 1 })
})

it('the request log has a line also for an abandoned request outside of the API', async () => {
  lines.length = 0
  await abandon(get('/docs', '').repeat(80))
  await expect.poll(requests).toHaveLength(80)
  const abandoned = requests().filter((entry) => entry.abandoned)
  expect(abandoned).not.toEqual([])
  expect(abandoned.every(({ route }) => route === '/docs')).toBe(true)
})
