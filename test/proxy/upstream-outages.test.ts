import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { findFreePort } from '../harness/processes/ports.ts'
import type { Upstream } from '../harness/services/haproxy.ts'
import { type ProxyUnderTest, startProxy } from '../support/http/proxy.ts'
import { emptyResponse } from './empty-response.ts'

let edge: ProxyUnderTest
let servers: Server[] = []
afterEach(async () => {
  await edge.stop()
  for (const server of servers) server.close()
  servers = []
})

/** Listens in place of a service process and is never ready. */
async function standIn(server: Server): Promise<Upstream> {
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { port, operationsPort: port }
}

const onConnection = (use: (socket: Socket) => void) =>
  standIn(
    createServer((socket) => {
      socket.on('error', () => {})
      use(socket)
    }),
  )

describe('an outage of the service', () => {
  it('the edge returns 503 without a body when the service does not listen', async () => {
    const port = await findFreePort(() => true)
    edge = await startProxy([{ port, operationsPort: port }])
    expect(await edge.call('/v1/orders')).toEqual(emptyResponse(503))
  })

  it('the edge returns 502 without a body when the service accepts and closes', async () => {
    edge = await startProxy([
      await onConnection((socket) => socket.once('data', () => socket.end())),
    ])
    expect(await edge.call('/v1/orders')).toEqual(emptyResponse(502))
  })

  it('the edge returns 502 without a body when the service accepts and resets', async () => {
    const reset = (socket: Socket) => socket.once('data', () => socket.resetAndDestroy())
    edge = await startProxy([await onConnection(reset)])
    expect(await edge.call('/v1/orders')).toEqual(emptyResponse(502))
  })

  it('the edge returns 502 without a body when the service responds with something other than HTTP', async () => {
    edge = await startProxy([
      await onConnection((socket) => socket.once('data', () => socket.end('what?\r\n\r\n'))),
    ])
    expect(await edge.call('/v1/orders')).toEqual(emptyResponse(502))
  })

  it('the edge returns 504 without a body when the service never responds', async () => {
    const silent = await onConnection((socket) => socket.resume())
    edge = await startProxy([silent], { EDGE_ANSWER_TIMEOUT: '200ms' })
    expect(await edge.call('/v1/orders')).toEqual(emptyResponse(504))
  })
})

describe('the 503 of the service itself', () => {
  it('the edge forwards a 503 of the service unchanged, without a retry, even if no process is ready', async () => {
    const body = '{"error":{"code":"service_unavailable"}}'
    const requestPaths: string[] = []
    const unready = () =>
      standIn(
        createHttpServer(({ url = '' }, response) => {
          if (url !== '/health/ready') requestPaths.push(url)
          const headers = { 'retry-after': '1', 'request-id': 'req_1' }
          response.writeHead(503, headers).end(body)
        }),
      )
    edge = await startProxy([await unready(), await unready()])
    for (const server of ['api/api1', 'api/api2'])
      await expect.poll(() => edge.log()).toContain(`Server ${server} is DOWN`)
    const answer = await edge.call('/v1/orders')
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1', 'request-id': 'req_1' },
      body,
    })
    expect(requestPaths).toEqual(['/v1/orders'])
  })
})

it.each([
  ['no', 2],
  ['yes', 1],
])('connections to the service are used again: %s', async (reuse, expected) => {
  const connections = new Set<Socket>()
  const server = createHttpServer(({ url, socket }, response) => {
    if (url !== '/health/ready') connections.add(socket)
    response.end()
  })
  edge = await startProxy([await standIn(server)], { EDGE_REUSE_CONNECTIONS: reuse })
  for (let n = 0; n < 2; n++) expect((await edge.call('/v1/orders')).status).toBe(200)
  expect(connections.size).toBe(expected)
})

describe('two processes', () => {
  const answering = (use: () => void) =>
    standIn(
      createHttpServer(({ url }, response) => {
        if (url !== '/health/ready') use()
        response.end('well')
      }),
    )

  it('a dead process fails no request', async () => {
    const port = await findFreePort(() => true)
    edge = await startProxy([{ port, operationsPort: port }, await answering(() => {})])
    const answers = await Promise.all(Array.from({ length: 20 }, () => edge.call('/v1/orders')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  })

  it('a process that exits before it responds causes a retry at the other', async () => {
    const ready = await standIn(createHttpServer((_, response) => response.end('well')))
    const ending = await onConnection((socket) => socket.once('data', () => socket.end()))
    let requestCount = 0
    const other = await answering(() => requestCount++)
    edge = await startProxy([{ ...ending, operationsPort: ready.port }, other])
    const answers = await Promise.all(Array.from({ length: 20 }, () => edge.call('/v1/orders')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(requestCount).toBe(20)
  })

  it('a process that is not ready receives no request', async () => {
    let requestCount = 0
    const notReady = await standIn(
      createHttpServer(({ url }, response) => {
        if (url !== '/health/ready') requestCount++
        response.writeHead(url === '/health/ready' ? 503 : 200).end()
      }),
    )
    edge = await startProxy([notReady, await answering(() => {})])
    await expect.poll(() => edge.log()).toContain('Server api/api1 is DOWN')
    await Promise.all(Array.from({ length: 20 }, () => edge.call('/v1/orders')))
    expect(requestCount).toBe(0)
  })
})
