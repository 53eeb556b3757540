import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, it } from 'vitest'
import requestTrace from '../../../src/http/plugins/request-trace.ts'
import type { TracedRequest, Tracing } from '../../../src/observability/tracing/tracing.ts'
import { openSocket } from '../../support/http/raw-http.ts'

let begun: TracedRequest[]
let ended: (number | undefined)[]
let app: FastifyInstance
beforeEach(async () => {
  begun = []
  ended = []
  const tracing: Tracing = {
    startRequest(request) {
      begun.push(request)
      return { run: (work) => work(), end: (status) => ended.push(status) }
    },
    recordAttempt() {},
    instrument: () => (_operation, call) => call(),
    close: async () => {},
  }
  app = Fastify({ genReqId: () => 'req_1' })
  app.register(requestTrace, { tracing })
  app.get('/orders/:id', async (_request, reply) => reply.code(404).send({}))
  app.get('/never', () => new Promise(() => {}))
  await app.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(() => app.close())

/** Sends the request as written here, without normalisation. */
async function send(path: string, ...headers: string[]) {
  const socket = await openSocket((app.server.address() as AddressInfo).port)
  socket.write([`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n'))
  await expect.poll(() => begun).toHaveLength(1)
  return socket
}

it('a span starts with the route and the id, and ends with the status after the response', async () => {
  const socket = await send('/orders/ord_1?a=b', 'traceparent: 00-a-b-01')
  await once(socket, 'data')
  expect(begun).toEqual([
    { method: 'GET', route: '/orders/:id', requestId: 'req_1', traceparent: '00-a-b-01' },
  ])
  await expect.poll(() => ended).toEqual([404])
  socket.destroy()
})

it('a span of an unknown path has no route', async () => {
  const socket = await send('/secret')
  socket.destroy()
  expect(begun).toEqual([
    { method: 'GET', route: undefined, requestId: 'req_1', traceparent: undefined },
  ])
})

it('a span ends without a status when the client disconnects before the response', async () => {
  const socket = await send('/never')
  expect(ended).toEqual([])
  socket.destroy()
  await expect.poll(() => ended).toEqual([undefined])
})
