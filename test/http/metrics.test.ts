import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/auth/api-key.ts'
import { buildOperationsApp } from '../../src/http/operations/operations-app.ts'
import type { Health } from '../../src/http/operations/readiness.ts'
import { metricIn } from '../support/http/metric.ts'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'
import { sourceOrder } from '../support/orders/source-order.ts'

const HEALTHY: Health = { status: 'ok', checks: { orders: 'ok' } }

let app: TestApp
beforeAll(async () => {
  app = await createTestApp()
})
afterAll(() => app.close())

/** The response of the operations port. */
async function operations(path: string, health = HEALTHY) {
  const port = buildOperationsApp(async () => health, app.metrics)
  const { statusCode: status, headers, body } = await port.inject(path)
  await port.close()
  return { status, headers, body }
}
const metric = async (series: string) => metricIn((await operations('/metrics')).body, series)

it('the metrics count every request by method, route and status, without query or path values', async () => {
  const { key } = await app.issue()
  await app.call('/v1/orders?status=PAID', { key })
  await app.call('/v1/orders?limit=0', { key })
  await app.call('/v1/orders/ord_secret', { key })
  await app.call('/secret-path', { method: 'POST' })

  const { body, headers } = await operations('/metrics')
  const counted = (method: string, route: string, status: number) =>
    `http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"} 1`
  expect(headers['content-type']).toContain('text/plain')
  expect(body).toContain(counted('GET', '/v1/orders', 200))
  expect(body).toContain(counted('GET', '/v1/orders', 400))
  expect(body).toContain(counted('GET', '/v1/orders/:id', 404))
  expect(body).toContain(counted('POST', 'none', 404))
  expect(body).not.toMatch(/secret|PAID|acc_/)
})

describe('the operations port', () => {
  it.each([
    ['ok', 200],
    ['unavailable', 503],
    ['draining', 503],
  ] as const)('reports the health "%s" with status %i and the checks', async (status, code) => {
    const health: Health = { status, checks: { orders: 'ok', limits: 'degraded' } }
    const answer = await operations('/health/ready', health)
    expect([answer.status, JSON.parse(answer.body)]).toEqual([code, health])
  })

  it('reports liveness while the service is not ready', async () => {
    const answer = await operations('/health/live', { status: 'unavailable', checks: {} })
    expect(answer).toMatchObject({ status: 200, body: '{"status":"ok"}' })
  })
})

it.each(['/metrics', '/health/live', '/health/ready', '/v1/metrics'])(
  'the public port returns 404 for %s',
  async (path) => {
    const { key } = await app.issue()
    expect(await app.error(path, { key })).toMatchObject({ status: 404, code: 'resource_missing' })
  },
)

describe('the counters of the metrics', () => {
  let before: Map<string, number>
  let key: string
  beforeEach(async () => {
    key = (await app.issue()).key
    // After the first request of a key, later requests cause no writes.
    await app.call('/v1/orders', { key })
    before = await series()
  })

  async function series(): Promise<Map<string, number>> {
    const lines = (await operations('/metrics')).body.split('\n')
    const samples = lines.filter((line) => /^(http|limiter|key|opensearch|redis)_/.test(line))
    return new Map(
      samples.map((line) => [line.replace(/ \S+$/, ''), Number(/\S+$/.exec(line)?.[0])]),
    )
  }

  /**
   * The counters that increased, and by how much. A series missing from the first sample fails the
   * comparison.
   */
  async function grown(): Promise<Record<string, number>> {
    const counters = [...(await series())].filter(([name]) => /_total|_count/.test(name))
    const changes = counters.map(([name, value]) => [
      name,
      value - (before.get(name) ?? Number.NaN),
    ])
    return Object.fromEntries(changes.filter(([, change]) => change !== 0))
  }
  const requests = (route: string, status: number) =>
    `http_request_duration_seconds_count{method="GET",route="${route}",status="${status}"}`

  it('the metrics count a listing and its rate-limit decision', async () => {
    await app.call('/v1/orders', { key })
    expect(await grown()).toMatchObject({
      [requests('/v1/orders', 200)]: 1,
      'limiter_decisions_total{decision="take",result="allowed"}': 1,
    })
  })

  it('the metrics count a rejected cursor', async () => {
    await app.call('/v1/orders?cursor=no-such-cursor', { key })
    expect(await grown()).toMatchObject({
      [requests('/v1/orders', 400)]: 1,
      'http_errors_total{code="invalid_request",param="cursor"}': 1,
    })
  })

  it('the metrics count a 304', async () => {
    const { headers } = await app.call('/v1/orders', { key })
    before = await series()
    await app.call('/v1/orders', { key, headers: { 'if-none-match': `${headers['etag']}` } })
    expect(await grown()).toMatchObject({
      [requests('/v1/orders', 304)]: 1,
      'limiter_decisions_total{decision="take",result="allowed"}': 1,
    })
  })

  it('the metrics count an unknown parameter, under one name for all', async () => {
    const headers = { prefer: 'handling=strict' }
    await app.call('/v1/orders?secret=1', { key, headers })
    await app.call('/v1/orders/ord_1?expand=1', { key, headers })
    expect(await grown()).toMatchObject({
      [requests('/v1/orders', 400)]: 1,
      [requests('/v1/orders/:id', 400)]: 1,
      'http_errors_total{code="invalid_request",param="unknown"}': 2,
    })
  })

  it('the metrics count an unknown key', async () => {
    await app.call('/v1/orders/ord_1', { key: generateApiKey() })
    expect(await grown()).toMatchObject({
      [requests('/v1/orders/:id', 401)]: 1,
      'http_errors_total{code="invalid_api_key",param=""}': 1,
      'limiter_decisions_total{decision="count_failure",result="allowed"}': 1,
      'key_cache_lookups_total{result="miss"}': 1,
    })
  })

  it('the metrics count a blocked address', async () => {
    const call = { key: generateApiKey(), from: '203.0.113.9' }
    for (let failure = 0; failure < 31; failure++) await app.call('/v1/orders', call)
    expect(await grown()).toMatchObject({
      [requests('/v1/orders', 429)]: 1,
      'http_errors_total{code="rate_limited",param=""}': 1,
      'limiter_decisions_total{decision="count_failure",result="denied"}': 1,
      'limiter_decisions_total{decision="count_failure",result="allowed"}': 30,
    })
  })
})

it('the metrics count a rate-limited request as a denied decision', async () => {
  const small = await createTestApp({ RATE_LIMIT_CAPACITY: '1', RATE_LIMIT_REFILL_PER_SECOND: '1' })
  const { key } = await small.issue()
  let status = 0
  while (status !== 429) status = (await small.call('/v1/orders', { key })).status
  const exposition = await small.metrics.registry.metrics()
  await small.close()
  expect(metricIn(exposition, 'limiter_decisions_total{decision="take",result="denied"}')).toBe(1)
})

it('the metrics contain nothing of orders, keys, accounts and addresses after any kind of request', async () => {
  const { key, record } = await app.issue({ accountId: 'acc_secret' })
  await app.load([sourceOrder({ id: 'ord_secret', owner_account_id: 'acc_secret' })])
  const { next_cursor } = await app.list('limit=1', key)
  const call = { key, from: '203.0.113.77', headers: { 'x-forwarded-for': '203.0.113.78' } }
  await app.call('/v1/orders/ord_secret', call)
  await app.call(`/v1/orders?cursor=${next_cursor}x`, call)
  await app.call('/v1/orders?secret=secret', { ...call, key: generateApiKey() })
  const strict = { prefer: 'handling=strict', 'if-none-match': '"secret"' }
  await app.call(`/v1/orders?secret=1&${key}=1`, { key, headers: strict })
  const { body } = await operations('/metrics')
  for (const secret of ['secret', key, record.keyId, record.digest, '203.0.113', 'Rita']) {
    expect(body).not.toContain(secret)
  }
})

it('the metrics follow the naming conventions: a unit or _total, each with its help', async () => {
  const all = await app.metrics.registry.getMetricsAsJSON()
  for (const { name, help, type } of all) {
    expect(help, name).toMatch(/^[A-Z].*\.$/)
    expect(name).toMatch(String(type) === 'counter' ? /^[a-z_]+_total$/ : /^[a-z_]+_seconds$/)
  }
  expect(await metric('http_malformed_requests_total')).toBe(0)
})
