import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { generateApiKey } from '../../../../src/auth/api-key.ts'
import { createReadiness } from '../../../../src/http/operations/readiness.ts'
import { type FaultyProxy, startFaultyProxy } from '../../../harness/faulty-proxy/faulty-proxy.ts'
import { createTestApp, type TestApp } from '../../../support/http/test-app.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { LONG_DEADLINES, opensearch, SHORT_DEADLINES } from '../../../support/stores/backend.ts'
import { silent } from '../../../support/stores/services.ts'

/** How long the key cache serves a key without the store. */
const FRESH_MS = 5_000
/** The most tests that share an app. */
const TESTS_PER_APP = 3

let proxies: FaultyProxy[]
let app: TestApp
/** Keys that no test has used. */
let unusedKeys: string[]
/** The key of a test, which the app has in its cache. */
let key: string

/** The whole app with one order and a proxy in front of every node. */
async function openApp(deadlines: Record<string, string>): Promise<void> {
  const nodes = (process.env['OPENSEARCH_URL'] ?? '').split(',').map((url) => new URL(url))
  proxies = await Promise.all(nodes.map(({ port }) => startFaultyProxy(Number(port))))
  app = await createTestApp({
    OPENSEARCH_URL: proxies.map(({ port }) => `http://127.0.0.1:${port}`).join(),
    RATE_LIMIT_CAPACITY: '1000',
    ...deadlines,
  })
  const issued = await Promise.all(Array.from({ length: TESTS_PER_APP }, () => app.issue()))
  unusedKeys = issued.map((one) => one.key)
  await app.load([sourceOrder()])
}

/** Takes the key of a test. Keys are issued before a fault, since the client retries no write. */
async function takeKey(): Promise<void> {
  key = unusedKeys.pop() ?? ''
  await expect.poll(async () => (await app.call('/v1/orders', { key })).status).toBe(200)
}

async function closeApp(): Promise<void> {
  vi.restoreAllMocks()
  restore()
  await app.close()
  for (const proxy of proxies) await proxy.close()
}

/** Registers the hooks that open an app and take a key before each test. */
function useAppPerTest(deadlines: Record<string, string>): void {
  beforeEach(() => openApp(deadlines))
  beforeEach(takeKey)
  afterEach(closeApp)
}

/** The same with one app for all tests, for faults that {@link restore} ends. */
function useSharedApp(deadlines: Record<string, string>): void {
  beforeAll(() => openApp(deadlines))
  beforeEach(takeKey)
  afterEach(restore)
  afterAll(closeApp)
}

/** Resets all connections, so that the next request opens a new one. */
const cut = () => {
  for (const proxy of proxies) proxy.resetConnections()
}
const stallAll = () => {
  for (const proxy of proxies) proxy.stall = true
}
const rejectAll = () => {
  for (const proxy of proxies) proxy.refuse = true
  cut()
}
function restore() {
  for (const proxy of proxies) Object.assign(proxy, { stall: false, refuse: false, delayMs: 0 })
  cut() // Dropped bytes never arrive.
}

const removeOrders = () => opensearch('DELETE', `${app.config.indexPrefix}orders-v1`)

/** A response to an unverified key: unlike described responses, it has no rate-limit headers. */
async function responseTo(unseen: string) {
  const { statusCode, headers, body } = await app.app.inject({
    url: '/v1/orders',
    headers: { authorization: `Bearer ${unseen}` },
    remoteAddress: '10.0.0.1',
  })
  return { status: statusCode, headers, code: JSON.parse(body).error?.code }
}
const unavailable = { status: 503, code: 'service_unavailable' }

/** Advances the monotonic clock of the process. */
function jump(ms: number) {
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ms)
}

const routes = [
  '/v1/orders',
  '/v1/orders?sort=updated_at_asc',
  '/v1/orders/ord_1',
  '/v1/orders/ord_9',
]
const faults: [name: string, breakOpenSearch: () => unknown, useApp: typeof useSharedApp][] = [
  ['that stops responding', stallAll, useSharedApp],
  ['that rejects connections', rejectAll, useSharedApp],
  ['without its orders index', removeOrders, useAppPerTest],
]

describe.each(faults)('an OpenSearch %s', (_name, breakOpenSearch, useApp) => {
  useApp(SHORT_DEADLINES)

  it('an unavailable OpenSearch makes every listing and order a 503, never a 404', async () => {
    await breakOpenSearch()
    const errors = await Promise.all(routes.map((route) => app.error(route, { key })))
    for (const error of errors) {
      expect(error).toMatchObject({ ...unavailable, type: 'api_error' })
      expect(error.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-limit': '1000' })
    }
  })

  it('an unavailable OpenSearch does not affect responses that need no store', async () => {
    await breakOpenSearch()
    expect((await app.error('/v1/orders?limit=0', { key })).status).toBe(400)
    expect((await app.error('/v1/nothing-here', { key })).status).toBe(404)
    expect((await app.error('/v1/orders/no-such-form', { key })).status).toBe(404)
    expect((await app.error('/v1/orders', { key: 'key_live_short' })).status).toBe(401)
  })

  it('an unavailable OpenSearch makes the service not ready', async () => {
    await breakOpenSearch()
    expect(await createReadiness(app.services, silent)()).toMatchObject({
      status: 'unavailable',
      checks: { orders: 'unavailable', limits: 'ok' },
    })
  })
})

describe('an OpenSearch that is back', () => {
  useSharedApp(SHORT_DEADLINES)

  it.each([
    ['silence', stallAll],
    ['rejections', rejectAll],
  ])('the client queries OpenSearch at once after %s', async (_what, breakOpenSearch) => {
    /** A pause of the client would fail the first call after each outage. */
    async function firstStatuses() {
      breakOpenSearch()
      await Promise.all(routes.map((route) => app.error(route, { key })))
      restore()
      const order = await app.call('/v1/orders/ord_1', { key })
      const listing = await app.call('/v1/orders', { key })
      return [order.status, listing.status]
    }
    await expect.poll(firstStatuses, { timeout: 60_000 }).toEqual([200, 200])
    expect((await app.list('', key)).data).toHaveLength(1)
  })
})

describe('connections that are cut', () => {
  useSharedApp(LONG_DEADLINES)

  it('the client hides connections that were reset between two requests', async () => {
    cut()
    expect((await app.call('/v1/orders', { key })).status).toBe(200)
  })

  it('the client hides connections that are reset during requests', async () => {
    for (const proxy of proxies) proxy.delayMs = 50
    const answers = Promise.all(Array.from({ length: 20 }, () => app.call('/v1/orders', { key })))
    await sleep(25)
    cut()
    expect((await answers).map(({ status }) => status)).toEqual(Array(20).fill(200))
  })
})

describe('a key while its store is down', () => {
  useAppPerTest(SHORT_DEADLINES)

  it.each([
    ['that was just seen', 0],
    ['that was seen some seconds ago', FRESH_MS],
    ['that was seen nearly 10 minutes ago', 590_000],
  ])('a key %s is accepted and rate limited while its store is down', async (_when, agoMs) => {
    stallAll()
    jump(agoMs)
    const { status, headers } = await app.error('/v1/orders', { key })
    expect([status, headers['ratelimit-limit']]).toEqual([503, '1000'])
    expect((await app.error('/v1/orders?limit=0', { key })).status).toBe(400)
  })

  it('a key cached 10 minutes ago gets 503 while its store is down', async () => {
    stallAll()
    jump(600_000)
    const answer = await responseTo(key)
    expect(answer).toMatchObject(unavailable)
    expect(answer.headers).not.toHaveProperty('ratelimit-limit')
  })

  it('an uncached key gets 503 and is not counted against its address', async () => {
    rejectAll()
    for (let time = 0; time < 40; time++) {
      expect(await responseTo(generateApiKey())).toMatchObject(unavailable)
    }
    restore()
    await expect
      .poll(() => responseTo(generateApiKey()))
      .toMatchObject({ status: 401, code: 'invalid_api_key' })
  })

  it('a key issued before the outage gets 503 from a process without it in the cache', async () => {
    const { key: fresh } = await app.issue({ accountId: 'acc_2' })
    stallAll()
    expect(await responseTo(fresh)).toMatchObject(unavailable)
    restore()
    await expect.poll(async () => (await responseTo(fresh)).status).toBe(200)
  })
})

describe('a change to a key or its account', () => {
  useAppPerTest(LONG_DEADLINES)

  it('a change to a key or its account takes effect within 5 seconds', async () => {
    const revoked = await app.issue()
    const blocked = await app.issue({ accountId: 'acc_blocked' })
    const statusOf = async (one: typeof revoked) =>
      (await app.call('/v1/orders', { key: one.key })).status
    expect([await statusOf(revoked), await statusOf(blocked)]).toEqual([200, 200])

    await app.services.keys.update(revoked.record.digest, { revokedAt: Date.now() })
    await app.services.keys.setAccountBlocked('acc_blocked', true)
    jump(FRESH_MS)
    expect([await statusOf(revoked), await statusOf(blocked)]).toEqual([401, 403])
  })
})
