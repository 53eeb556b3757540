import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { generateApiKey } from '../../../../src/auth/api-key.ts'
import { createReadiness } from '../../../../src/http/operations/readiness.ts'
import { type FaultyProxy, startFaultyProxy } from '../../../harness/faulty-proxy/faulty-proxy.ts'
import { createTestApp, type TestApp } from '../../../support/http/test-app.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { silent } from '../../../support/stores/services.ts'

/** For how long a key that was read answers without the store. */
const FRESH_MS = 5_000

let proxies: FaultyProxy[]
let app: TestApp
let key: string

/** The whole app, with a proxy before every node, and one order. */
beforeEach(async () => {
  const nodes = (process.env['OPENSEARCH_URL'] ?? '').split(',').map((url) => new URL(url))
  proxies = await Promise.all(nodes.map(({ port }) => startFaultyProxy(Number(port))))
  app = await createTestApp({
    OPENSEARCH_URL: proxies.map(({ port }) => `http://127.0.0.1:${port}`).join(),
    SEARCH_DEADLINE_MS: '1000',
    RATE_LIMIT_CAPACITY: '1000',
  })
  key = (await app.issue()).key
  await app.load([sourceOrder()])
  expect((await app.call('/v1/orders', { key })).status).toBe(200)
})
afterEach(async () => {
  vi.restoreAllMocks()
  restore()
  await app.close()
  for (const proxy of proxies) await proxy.close()
})

/** Ends what there is of connections, so that what comes next makes new ones. */
const cut = () => {
  for (const proxy of proxies) proxy.resetConnections()
}
const stallAll = () => {
  for (const proxy of proxies) proxy.stall = true
}
const refuseAll = () => {
  for (const proxy of proxies) proxy.refuse = true
  cut()
}
function restore() {
  for (const proxy of proxies) Object.assign(proxy, { stall: false, refuse: false, delayMs: 0 })
  cut() // What was swallowed never comes.
}

const removeOrders = () => opensearch('DELETE', `${app.config.indexPrefix}orders-v1`)

/** An answer to a key that nobody could look at: it has no limits to tell, unlike what is described. */
async function answerTo(unseen: string) {
  const { statusCode, headers, body } = await app.app.inject({
    url: '/v1/orders',
    headers: { authorization: `Bearer ${unseen}` },
    remoteAddress: '10.0.0.1',
  })
  return { status: statusCode, headers, code: JSON.parse(body).error?.code }
}
const unavailable = { status: 503, code: 'service_unavailable' }

/** Lets the monotonic clock of the process jump, as if all of this time had passed. */
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
const faults: [name: string, happen: () => unknown][] = [
  ['that says nothing any more', stallAll],
  ['that refuses connections', refuseAll],
  ['whose index of orders is gone', removeOrders],
]

describe.each(faults)('an OpenSearch %s', (_name, happen) => {
  it('makes every listing and every order a 503, and never a 404', async () => {
    await happen()
    const errors = await Promise.all(routes.map((route) => app.error(route, { key })))
    for (const error of errors) {
      expect(error).toMatchObject({ ...unavailable, type: 'api_error' })
      expect(error.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-limit': '1000' })
    }
  })

  it('leaves what is decided without it as it is', async () => {
    await happen()
    expect((await app.error('/v1/orders?limit=0', { key })).status).toBe(400)
    expect((await app.error('/v1/nothing-here', { key })).status).toBe(404)
    expect((await app.error('/v1/orders/no-such-form', { key })).status).toBe(404)
    expect((await app.error('/v1/orders', { key: 'key_live_short' })).status).toBe(401)
  })

  it('makes the service not ready', async () => {
    await happen()
    expect(await createReadiness(app.services, silent)()).toMatchObject({
      status: 'unavailable',
      checks: { orders: 'unavailable', limits: 'ok' },
    })
  })
})

describe('an OpenSearch that is back', () => {
  it.each([
    ['silence', stallAll],
    ['refusals', refuseAll],
  ])('after %s is asked again at once', async (_what, happen) => {
    happen()
    await Promise.all(routes.map((route) => app.error(route, { key })))
    restore()
    expect((await app.call('/v1/orders/ord_1', { key })).status).toBe(200)
    expect((await app.list('', key)).data).toHaveLength(1)
  })
})

describe('connections that are cut', () => {
  it('between two requests are not noticed', async () => {
    cut()
    expect((await app.call('/v1/orders', { key })).status).toBe(200)
  })

  it('during requests are not noticed', async () => {
    for (const proxy of proxies) proxy.delayMs = 50
    const answers = Promise.all(Array.from({ length: 20 }, () => app.call('/v1/orders', { key })))
    await sleep(25)
    cut()
    expect((await answers).map(({ status }) => status)).toEqual(Array(20).fill(200))
  })
})

describe('a key while its store is down', () => {
  it.each([
    ['that was just seen', 0],
    ['that was seen some seconds ago', FRESH_MS],
    ['that was seen nearly 10 minutes ago', 590_000],
  ])('%s is accepted, and its account is metered', async (_when, agoMs) => {
    stallAll()
    jump(agoMs)
    const { status, headers } = await app.error('/v1/orders', { key })
    expect([status, headers['ratelimit-limit']]).toEqual([503, '1000'])
    expect((await app.error('/v1/orders?limit=0', { key })).status).toBe(400)
  })

  it('that was seen 10 minutes ago is neither accepted nor refused', async () => {
    stallAll()
    jump(600_000)
    const answer = await answerTo(key)
    expect(answer).toMatchObject(unavailable)
    expect(answer.headers).not.toHaveProperty('ratelimit-limit')
  })

  it('that nobody has seen is neither accepted nor refused, and not counted against its address', async () => {
    refuseAll()
    for (let time = 0; time < 40; time++) {
      expect(await answerTo(generateApiKey())).toMatchObject(unavailable)
    }
    restore()
    expect(await answerTo(generateApiKey())).toMatchObject({ status: 401, code: 'invalid_api_key' })
  })

  it('that was issued before it went down is unknown to a process that never saw it', async () => {
    const { key: fresh } = await app.issue({ accountId: 'acc_2' })
    stallAll()
    expect(await answerTo(fresh)).toMatchObject(unavailable)
    restore()
    expect((await answerTo(fresh)).status).toBe(200)
  })
})

describe('what is decided about a key or its account', () => {
  it('counts within 5 seconds', async () => {
    const revoked = await app.issue()
    const blocked = await app.issue({ accountId: 'acc_blocked' })
    const statusOf = async (one: typeof revoked) =>
      (await app.call('/v1/orders', { key: one.key })).status
    expect([await statusOf(revoked), await statusOf(blocked)]).toEqual([200, 200])

    await app.services.keys.update(revoked.record.digest, { revokedAt: Date.now() })
    await app.services.keys.setAccountBlocked('acc_blocked', true)
    await sleep(FRESH_MS + 200)
    expect([await statusOf(revoked), await statusOf(blocked)]).toEqual([401, 403])
  })
})
