import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, it } from 'vitest'
import abandonedRequests from '../../src/http/plugins/abandoned-requests.ts'
import errorHandler from '../../src/http/plugins/error-handler.ts'
import requestLog from '../../src/http/plugins/request-log.ts'
import requestMetrics from '../../src/http/plugins/request-metrics.ts'
import { createMetrics, type Metrics } from '../../src/observability/metrics/registry.ts'
import { metricIn } from '../support/http/metric.ts'
import { openSocket } from '../support/http/raw-http.ts'

let metrics: Metrics
let app: FastifyInstance
let isReceived: boolean
beforeEach(async () => {
  metrics = createMetrics()
  isReceived = false
  app = Fastify()
  app.register(abandonedRequests)
  app.register(requestLog)
  app.register(requestMetrics, { metrics })
  app.register(errorHandler)
  app.register(async (routes) => {
    routes.get('/answered', async () => 'answer')
    routes.get('/never', () => {
      isReceived = true
      return new Promise(() => {})
    })
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(() => app.close())

async function send(path: string) {
  const socket = await openSocket((app.server.address() as AddressInfo).port)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  return socket
}
const metric = async (series: string) => metricIn(await metrics.registry.metrics(), series)
const answered = (route: string) =>
  metric(`http_request_duration_seconds_count{method="GET",route="${route}",status="200"}`)

it('the request metrics count a request as abandoned when its client disconnects before the response', async () => {
  const socket = await send('/never')
  await expect.poll(() => isReceived).toBe(true)
  expect(await metric('http_abandoned_requests_total')).toBe(0)
  socket.destroy()
  await expect.poll(() => metric('http_abandoned_requests_total')).toBe(1)
  expect(await answered('/never')).toBe(0)
})

it('the request metrics do not count a completed response as abandoned when its connection ends later', async () => {
  const socket = await send('/answered')
  await once(socket, 'data')
  socket.destroy()
  await expect.poll(() => answered('/answered')).toBe(1)
  await app.close()
  expect(await metric('http_abandoned_requests_total')).toBe(0)
})
