import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SourceOrder } from '../../src/indexing/projection/source-order.ts'
import { expectMatchesOpenApi } from '../harness/traffic/openapi-check.ts'
import { createTestApp, ROOMY, type TestApp } from '../support/http/test-app.ts'
import { sourceOrder } from '../support/orders/source-order.ts'

const IDS = ['ord_1', 'ord_2', 'ord_3']
const ROUTES = ['/v1/orders?limit=2', '/v1/orders/ord_1']

let app: TestApp
let key: string
let accounts = 1

/** Starts an app with three orders on separate stores, which the tests below call. */
async function open(env: Record<string, string> = ROOMY) {
  app = await createTestApp(env)
  key = (await app.issue()).key
  await app.load(IDS.map((id) => sourceOrder({ id })))
}

/** Adds an account with three orders of its own, whose key the tests below use. */
async function addAccount() {
  accounts += 1
  key = (await app.issue({ accountId: `acc_${accounts}` })).key
  await app.load(IDS.map((id) => ownOrder(id)))
}

/** The order of the added account that stands for this one of {@link IDS}. */
const ownOrder = (id: string, more: Partial<SourceOrder> = {}) =>
  sourceOrder({ id: `${id}_${accounts}`, owner_account_id: `acc_${accounts}`, ...more })
/** One of {@link ROUTES}, with the order of the added account. */
const ownRoute = (route: string) => route.replace(/ord_\d/, (id) => `${id}_${accounts}`)

/** The port of the app, which starts to listen at the first call. */
async function startServer(): Promise<number> {
  const { server } = app.app
  if (!server.listening) await app.app.listen({ port: 0, host: '127.0.0.1' })
  return (server.address() as AddressInfo).port
}

const tagOf = async (url: string) => `${(await app.call(url, { key })).headers['etag']}`
const revalidate = (url: string, etag: string, more: Record<string, string> = {}) =>
  app.call(url, { key, headers: { 'if-none-match': etag, ...more } })

describe('conditional requests without concurrent writes', () => {
  beforeAll(() => open())
  afterAll(() => app.close())

  describe.each(ROUTES)('GET %s', (url) => {
    it('a GET response has a strong ETag and requires private caches to revalidate', async () => {
      const { headers } = await app.call(url, { key })
      expect(headers).toMatchObject({
        etag: expect.stringMatching(/^"[0-9A-Za-z_-]{22}"$/),
        'cache-control': 'private, no-cache',
        vary: 'Authorization, Prefer',
      })
    })

    it('returns 304 for a matching ETag: no body, no type, the ETag, the limits and an id', async () => {
      const tag = await tagOf(url)
      const { status, text, headers } = await revalidate(url, tag)
      expect([status, text]).toEqual([304, ''])
      expectMatchesOpenApi({ url, status, headers, json: null })
      expect(headers).toMatchObject({
        etag: tag,
        'cache-control': 'private, no-cache',
        vary: 'Authorization, Prefer',
      })
      expect(headers).not.toHaveProperty('content-type')
      expect(headers).not.toHaveProperty('content-length')
    })

    it('returns 304 on HEAD without a Content-Length', async () => {
      const tag = await tagOf(url)
      const headers = { 'if-none-match': tag }
      const head = await app.call(url, { key, method: 'HEAD', headers })
      expect([head.status, head.headers['etag']]).toEqual([304, tag])
      expect(head.headers).not.toHaveProperty('content-type')
      expect(head.headers).not.toHaveProperty('content-length')
    })

    it('a HEAD response has the same ETag as GET', async () => {
      const head = await app.call(url, { key, method: 'HEAD' })
      expect([head.status, head.headers['etag']]).toEqual([200, await tagOf(url)])
    })

    it.each<[string, (tag: string) => string]>([
      ['the weak form, as a compressing proxy sends it', (tag) => `W/${tag}`],
      ['a list', (tag) => `"a", ${tag},"b"`],
      ['a list with the weak form', (tag) => `"a" , W/${tag}`],
      ['a wildcard', () => '*'],
    ])('returns 304 for an If-None-Match with %s', async (_, ifNoneMatch) => {
      expect((await revalidate(url, ifNoneMatch(await tagOf(url)))).status).toBe(304)
    })

    it.each<[string, (tag: string) => string]>([
      ['another ETag', () => '"mZ4tQ0vT1x7cWfK2aB9dLg"'],
      ['the ETag without its quotes', (tag) => tag.slice(1, -1)],
      ['the ETag in another case', (tag) => tag.toUpperCase()],
      ['a part of it', (tag) => `${tag.slice(0, -2)}"`],
      ['nothing', () => ''],
      ['garbage', () => ',,"'],
    ])('returns 200 for an If-None-Match with %s', async (_, ifNoneMatch) => {
      expect((await revalidate(url, ifNoneMatch(await tagOf(url)))).status).toBe(200)
    })

    it('returns 304 whatever Cache-Control the request has', async () => {
      const tag = await tagOf(url)
      for (const cacheControl of ['no-cache', 'max-age=0', 'no-store']) {
        expect((await revalidate(url, tag, { 'cache-control': cacheControl })).status).toBe(304)
      }
    })

    it('a date never causes a 304', async () => {
      const headers = { 'if-modified-since': new Date(Date.now() + 86_400_000).toUTCString() }
      expect((await app.call(url, { key, headers })).status).toBe(200)
    })

    it('returns 304 to a fetch that sets If-None-Match and so sends no-cache', async () => {
      const port = await startServer()
      const headers = { authorization: `Bearer ${key}`, 'if-none-match': await tagOf(url) }
      const answer = await fetch(`http://127.0.0.1:${port}${url}`, { headers })
      expect([answer.status, await answer.text()]).toEqual([304, ''])
    })
  })

  describe('If-None-Match', () => {
    it.each([
      ['/v1/orders?limit=0', 400],
      ['/v1/orders/ord_missing', 404],
      ['/v1/nope', 404],
    ])('If-None-Match does not turn the error of %s into a 304', async (url, status) => {
      expect((await revalidate(url, '*')).status).toBe(status)
    })

    it('If-None-Match does not turn a 401 into a 304', async () => {
      const headers = { 'if-none-match': '*' }
      expect((await app.call('/v1/orders', { headers })).status).toBe(401)
    })

    it('If-None-Match does not turn the 404 of a write into a 304', async () => {
      const call = { key, method: 'PUT', headers: { 'if-none-match': '*' } } as const
      expect((await app.call('/v1/orders/ord_1', call)).status).toBe(404)
    })
  })

  describe('an error response', () => {
    it.each([
      ['/v1/orders?limit=0', 400],
      ['/v1/orders/ord_missing', 404],
      ['/v1/nope', 404],
      ['/elsewhere', 404],
    ])('an error response is not cacheable: %s', async (url, status) => {
      const answer = await app.call(url, { key })
      expect(answer.status).toBe(status)
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store' })
      expect(answer.headers).not.toHaveProperty('etag')
    })

    it('an error response is not cacheable without a key', async () => {
      const { headers } = await app.call('/v1/orders')
      expect(headers['cache-control']).toBe('no-store')
    })
  })
})

describe('a 304', () => {
  const CAPACITY = 5
  beforeAll(() =>
    open({
      RATE_LIMIT_CAPACITY: `${CAPACITY}`,
      RATE_LIMIT_REFILL_PER_SECOND: '1',
      MAX_CONCURRENT_REQUESTS: '1',
    }),
  )
  beforeEach(addAccount)
  afterAll(() => app.close())

  it.each(ROUTES)('counts against the rate limit: %s', async (route) => {
    const statuses: number[] = []
    while (!statuses.includes(429)) statuses.push((await revalidate(ownRoute(route), '*')).status)
    expect(statuses.slice(0, CAPACITY)).toEqual(Array(CAPACITY).fill(304))
  })

  it.each(ROUTES)('releases its concurrency slot: %s', async (route) => {
    const port = await startServer()
    const headers = { authorization: `Bearer ${key}`, 'if-none-match': '*' }
    const statuses: number[] = []
    for (let attempt = 0; attempt < CAPACITY; attempt++) {
      const url = `http://127.0.0.1:${port}${ownRoute(route)}`
      statuses.push((await fetch(url, { headers })).status)
    }
    expect(statuses).toEqual(Array(CAPACITY).fill(304))
  })
})

describe('the ETag', () => {
  beforeAll(() => open())
  beforeEach(addAccount)
  afterAll(() => app.close())

  it.each(ROUTES)('the ETag of %s changes only when an order changes', async (route) => {
    const url = ownRoute(route)
    const tag = await tagOf(url)
    expect(await tagOf(url)).toBe(tag)
    await app.load([ownOrder('ord_1', { version: 2, amount_total: 1 })])
    await app.load([ownOrder('ord_3', { version: 2, amount_total: 1 })])
    const after = await revalidate(url, tag)
    expect([after.status, after.headers['etag'] === tag]).toEqual([200, false])
  })

  it('stays the same when an unchanged order is loaded again', async () => {
    const url = '/v1/orders?sort=updated_at_asc'
    const tag = await tagOf(url)
    await app.load([ownOrder('ord_1')])
    expect(await tagOf(url)).toBe(tag)
  })

  it('stays the same for a page that ends among orders without updated_at, while there are no writes', async () => {
    await app.load(['ord_x', 'ord_y', 'ord_z'].map((id) => ownOrder(id, { changed_at: null })))
    const url = '/v1/orders?sort=updated_at_asc&limit=4'
    const { json, headers } = await app.call(url, { key })
    expect([json.data.at(-1).updated_at, json.has_more]).toEqual([null, true])
    expect((await revalidate(url, `${headers['etag']}`)).status).toBe(304)
  })

  it('differs for an account that receives other content', async () => {
    await app.load([ownOrder('ord_1', { version: 2, coproducer_account_ids: ['acc_coproducer'] })])
    const coproducer = (await app.issue({ accountId: 'acc_coproducer' })).key
    const url = ownRoute('/v1/orders/ord_1')
    const { status, headers } = await app.call(url, { key: coproducer })
    expect([status, headers['etag'] === (await tagOf(url))]).toEqual([200, false])
  })
})
