import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { createReadiness } from '../../../src/http/operations/readiness.ts'
import { runCommand, startService } from '../../support/cli/command.ts'
import { metricIn } from '../../support/http/metric.ts'
import { attributesOf, startOtlpReceiver } from '../../support/http/otlp-receiver.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { silent } from '../../support/stores/services.ts'

let app: TestApp
let key: string
beforeAll(async () => {
  app = await createTestApp()
})
afterAll(() => app.close())
beforeEach(async () => {
  key = (await app.issue()).key
})

/** The metric series that increased since `before`. */
async function counted(before = new Map<string, number>()) {
  const text = await app.metrics.registry.metrics()
  const names = [...text.matchAll(/^(?:opensearch|redis)\S+_count\S*/gm)].map(([name]) => name)
  const values = names.map((name): [string, number] => [name, metricIn(text, name)])
  return new Map(values.filter(([name, value]) => value > (before.get(name) ?? 0)))
}
const opensearch = (operation: string, outcome: 'ok' | 'failed') =>
  `opensearch_request_duration_seconds_count{operation="${operation}",outcome="${outcome}"}`
const redis = (decision: string, outcome: 'ok' | 'failed') =>
  `redis_decision_duration_seconds_count{decision="${decision}",outcome="${outcome}"}`

it('the metrics time each OpenSearch and Redis call of a request by operation', async () => {
  const before = await counted()
  await app.call('/v1/orders', { key })
  await app.call('/v1/orders/ord_1', { key })
  expect([...(await counted(before)).keys()]).toEqual(
    expect.arrayContaining([
      opensearch('get_key', 'ok'),
      opensearch('get_account', 'ok'),
      opensearch('search', 'ok'),
      opensearch('get_order', 'ok'),
      redis('blocked', 'ok'),
      redis('take', 'ok'),
    ]),
  )
})

it('a page for a cached key costs one search and one Redis call', async () => {
  async function callsOfOnePage() {
    const before = await counted()
    await app.call('/v1/orders', { key })
    const after = await counted()
    const added = [...after].map(
      ([name, count]) => [name, count - (before.get(name) ?? 0)] as const,
    )
    return added.filter(([, times]) => times !== 0)
  }
  // The use of a key is recorded in the background, once, and may still be under way.
  await expect.poll(callsOfOnePage).toEqual([
    [opensearch('search', 'ok'), 1],
    [redis('take', 'ok'), 1],
  ])
})

it('the metrics time the calls of a health check', async () => {
  const before = await counted()
  const { status, checks } = await createReadiness(app.services, silent)()
  expect({ status, checks }).toEqual({
    status: 'ok',
    checks: { orders: 'ok', keys: 'ok', limits: 'ok' },
  })
  const names = [...(await counted(before)).keys()]
  expect(names).toEqual(
    expect.arrayContaining([opensearch('latest_write', 'ok'), opensearch('get_key', 'ok')]),
  )
})

it('the metrics time a failed search as failed', async () => {
  const broken = await createTestApp()
  const issued = await broken.issue()
  await broken.breakOrders()
  await broken.call('/v1/orders', { key: issued.key })
  const text = await broken.metrics.registry.metrics()
  await broken.close()
  expect(metricIn(text, opensearch('search', 'failed'))).toBe(1)
  expect(metricIn(text, opensearch('search', 'ok'))).toBe(0)
})

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

it('OpenSearch and Redis calls are child spans of the request', async () => {
  const collector = await startOtlpReceiver()
  closers.push(collector.close)
  const service = await startService([], {
    ...app.env,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  })
  closers.push(() => service.stop('SIGKILL'))
  const args = ['keys', 'create', '--account', 'acc_traced']
  const fresh = (await runCommand(args, app.env)).stdout.trim()
  const headers = { authorization: `Bearer ${fresh}` }
  const names = ['get_key', 'get_account', 'search'].map((name) => `opensearch ${name}`)
  // A busy machine may decide limits locally, so several requests may be needed.
  await vi.waitFor(
    async () => {
      expect((await fetch(`${service.baseUrl}/v1/orders`, { headers })).status).toBe(200)
      const spanNames = collector.spans().map(({ name }) => name)
      expect(spanNames).toEqual(expect.arrayContaining(['GET /v1/orders', 'redis take', ...names]))
    },
    { timeout: 60_000, interval: 300 },
  )
  await service.stop()

  const spans = collector.spans()
  const spansOf = (isRequest: boolean) =>
    spans.filter(({ name }) => name.startsWith('GET') === isRequest)
  const requests = new Set(spansOf(true).map(({ spanId }) => spanId))
  // Health checks and background calls create no spans.
  for (const call of spansOf(false)) expect(requests).toContain(call.parentSpanId)
  const systems = new Set(spansOf(false).map((span) => attributesOf(span)['db.system.name']))
  expect(systems).toEqual(new Set(['opensearch', 'redis']))
})
