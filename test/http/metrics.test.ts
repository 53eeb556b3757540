import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildOperations } from '../../src/operations.ts'
import { createTestApp, type TestApp } from '../support/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await createTestApp()
})
afterAll(() => app.close())

it('counts every request by method, route and status, and nothing that it was asked', async () => {
  const { key } = await app.issue()
  await app.call('/v1/orders?status=PAID', { key })
  await app.call('/v1/orders?limit=0', { key })
  await app.call('/v1/orders/ord_secret', { key })
  await app.call('/secret-path', { method: 'POST' })

  const operations = buildOperations(async () => true, app.metrics)
  const { body, headers } = await operations.inject('/metrics')
  await operations.close()

  const counted = (method: string, route: string, status: number) =>
    `http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"} 1`
  expect(headers['content-type']).toContain('text/plain')
  expect(body).toContain(counted('GET', '/v1/orders', 200))
  expect(body).toContain(counted('GET', '/v1/orders', 400))
  expect(body).toContain(counted('GET', '/v1/orders/:id', 404))
  expect(body).toContain(counted('POST', 'none', 404))
  expect(body).not.toMatch(/secret|PAID|acc_/)
})

it.each([
  [true, 200, 'ok'],
  [false, 503, 'unavailable'],
])('tells whether the service is ready: %s', async (isReady, status, told) => {
  const operations = buildOperations(async () => isReady, app.metrics)
  const answer = await operations.inject('/health/ready')
  await operations.close()
  expect([answer.statusCode, answer.json()]).toEqual([status, { status: told }])
})
