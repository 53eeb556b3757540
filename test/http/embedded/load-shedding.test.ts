import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { expectMatchesOpenApi } from '../../harness/traffic/openapi-check.ts'
import { openSocket, type RawResponse, readResponses } from '../../support/http/raw-http.ts'
import { createTestApp, ROOMY, type TestApp } from '../../support/http/test-app.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

let app: TestApp
afterEach(() => app.close())

async function startApp(env: Record<string, string>) {
  app = await createTestApp(env)
  await app.load([sourceOrder()])
  const { key } = await app.issue()
  await app.app.listen({ port: 0 })
  const { port } = app.app.server.address() as AddressInfo
  const get = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`
  return { port, get }
}

/** This many requests in one packet: all of them arrive before the first is processed. */
async function sendPipelined(port: number, request: string, count: number): Promise<RawResponse[]> {
  const socket = await openSocket(port)
  socket.write(request.repeat(count))
  return readResponses(socket, count)
}

async function sendInParallel(
  port: number,
  request: string,
  count: number,
): Promise<RawResponse[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(port)))
  for (const socket of sockets) socket.write(request)
  return (await Promise.all(sockets.map((socket) => readResponses(socket, 1)))).flat()
}

const statuses = (answers: readonly RawResponse[]) => answers.map(({ status }) => status)

const shedCount = async (reason: string) => {
  const { values } = await app.metrics.shedRequests.get()
  return values.find(({ labels }) => labels.reason === reason)?.value
}

it('load shedding serves requests up to the limit and immediately returns 503 for the excess', async () => {
  const { port, get } = await startApp({ ...ROOMY, MAX_CONCURRENT_REQUESTS: '4' })
  const answers = await sendPipelined(port, get('/v1/orders/ord_1'), 10)
  expect(statuses(answers)).toEqual([200, 200, 200, 200, 503, 503, 503, 503, 503, 503])
})

it('load shedding returns an error body, Retry-After and a separate request id', async () => {
  const { port, get } = await startApp({ ...ROOMY, MAX_CONCURRENT_REQUESTS: '1' })
  const shed = (await sendPipelined(port, get('/v1/orders'), 3)).slice(1)
  for (const { status, headers, body } of shed) {
    const json = JSON.parse(body)
    expectMatchesOpenApi({ url: '/v1/orders', status, headers, json })
    expect(json.error).toMatchObject({ type: 'api_error', code: 'service_unavailable' })
    expect(json.error.message).toMatch(/^Serviço temporariamente indisponível\./)
    expect(json.error.request_id).toBe(headers['request-id'])
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'retry-after': '1',
    })
  }
  expect(new Set(shed.map(({ headers }) => headers['request-id'])).size).toBe(2)
})

it('load shedding keeps the connection of a shed request open and serves the next one on it', async () => {
  const { port, get } = await startApp({ ...ROOMY, MAX_CONCURRENT_REQUESTS: '1' })
  const socket = await openSocket(port)
  socket.write(get('/v1/orders/ord_1').repeat(2))
  let received = ''
  while (!received.includes('HTTP/1.1 503')) received += String((await once(socket, 'data'))[0])
  socket.write(get('/v1/orders/ord_1'))
  expect(statuses(await readResponses(socket, 1))).toEqual([200])
})

it('load shedding stops when the flood is over', async () => {
  const { port, get } = await startApp({ ...ROOMY, MAX_CONCURRENT_REQUESTS: '4' })
  for (let burst = 0; burst < 5; burst++) await sendPipelined(port, get('/v1/orders'), 50)
  expect(statuses(await sendPipelined(port, get('/v1/orders'), 4))).toEqual([200, 200, 200, 200])
})

it('load shedding counts each shed request with its reason', async () => {
  const { port, get } = await startApp({ ...ROOMY, MAX_CONCURRENT_REQUESTS: '4' })
  await sendPipelined(port, get('/v1/orders'), 10)
  expect(await shedCount('concurrency')).toBe(6)
  expect(await shedCount('event_loop')).toBe(0)
})

it('load shedding rejects requests that arrived while the event loop was blocked', async () => {
  const { port, get } = await startApp({ ...ROOMY, MAX_CONCURRENT_REQUESTS: '10' })
  app.app.server.once('request', () => {
    const endsAt = performance.now() + 1_100
    while (performance.now() < endsAt);
  })
  const answers = await sendPipelined(port, get('/v1/orders/ord_1'), 3)
  expect(statuses(answers)).toEqual([200, 503, 503])
  expect(await shedCount('event_loop')).toBe(2)
})

it.each([
  ['each on a separate connection', sendInParallel],
  ['pipelined on one connection', sendPipelined],
])(
  'load shedding rejects none of 200 simultaneous requests to an idle service, %s',
  async (_how, send) => {
    const { port, get } = await startApp({})
    const startedAt = performance.now()
    const answers = statuses(await send(port, get('/v1/orders'), 200))
    const refilled = Math.ceil((performance.now() - startedAt) / 100)
    const served = answers.filter((status) => status === 200).length
    const limited = answers.filter((status) => status === 429).length
    expect(served + limited).toBe(200)
    expect(served).toBeGreaterThanOrEqual(20)
    expect(served).toBeLessThanOrEqual(20 + refilled)
  },
)
