import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect as connectH2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HOST, type ProxyUnderTest, startProxy } from '../support/http/proxy.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { openServedStore, type ServedStore } from '../support/stores/served-store.ts'

const LIST = '/v1/orders?limit=50'
const IDS = Array.from({ length: 50 }, (_, n) => `ord_${n}`)
const GZIP = { 'accept-encoding': 'gzip' }

let store: ServedStore
let authorization: string
let edge: ProxyUnderTest
let plainEdge: ProxyUnderTest
/** An answer of each media type, and of some statuses, which the API does not have all. */
let any: Server
let anyEdge: ProxyUnderTest

beforeAll(async () => {
  store = openServedStore()
  const [service, key] = await Promise.all([store.serve(), store.createKey('acc_1')])
  authorization = `Bearer ${key}`
  await store.load(IDS.map((id) => sourceOrder({ id })))
  edge = await startProxy([service])
  plainEdge = await startProxy([service], { EDGE_COMPRESS_ORDERS: 'no' })

  any = createServer(({ headers }, response) => {
    response.statusCode = Number(headers['x-status'] ?? 200)
    response.setHeader('Content-Type', `${headers['x-type']}`).end('a'.repeat(5_000))
  })
  await once(any.listen(0, '127.0.0.1'), 'listening')
  const { port } = any.address() as AddressInfo
  anyEdge = await startProxy([{ port, operationsPort: port }])
})
afterAll(async () => {
  await Promise.all([edge.stop(), plainEdge.stop(), anyEdge.stop()])
  any.close()
  await store.close()
})

/** Over HTTP/2, where the bytes of a body can be read as they came. */
async function get(path: string, headers: Record<string, string>, method = 'GET') {
  const session = connectH2(`https://localhost:${edge.httpsPort}`, { ca: edge.ca })
  const pseudo = { ':authority': HOST, ':path': path, ':method': method }
  const stream = session.request({ ...pseudo, authorization, ...headers })
  const [answer] = await once(stream, 'response')
  const body = await buffer(stream)
  session.destroy()
  return { status: answer[':status'], headers: answer, body }
}

describe('a page of orders', () => {
  it('is compressed where the client takes gzip, and is the same bytes', async () => {
    const [plain, small] = [await get(LIST, {}), await get(LIST, GZIP)]
    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect(small.headers).toMatchObject({ 'content-encoding': 'gzip' })
    expect(small.body.length).toBeLessThan(plain.body.length / 5)
    expect(gunzipSync(small.body).equals(plain.body)).toBe(true)
  })

  it('tells caches apart by what they accept, beside whose it is', async () => {
    const { headers } = await get(LIST, GZIP)
    const vary = `${headers['vary']}`.toLowerCase().split(/, ?/)
    expect(new Set(vary)).toEqual(new Set(['authorization', 'prefer', 'accept-encoding']))
  })

  it('has the tag of the plain one, made weak', async () => {
    const [plain, small] = [await get(LIST, {}), await get(LIST, GZIP)]
    expect(plain.headers['etag']).toMatch(/^"/)
    expect(small.headers['etag']).toBe(`W/${plain.headers['etag']}`)
  })

  it.each([
    ['compressed', GZIP],
    ['plain', {}],
  ])(
    'is 304 without a body to who holds its %s form, whatever is accepted now',
    async (_, held) => {
      const tag = `${(await get(LIST, held)).headers['etag']}`
      for (const accepted of [{}, GZIP]) {
        const again = await get(LIST, { ...accepted, 'if-none-match': tag })
        expect([again.status, again.body.length]).toEqual([304, 0])
        expect(again.headers).not.toHaveProperty('content-encoding')
        expect(again.headers).toHaveProperty('ratelimit-remaining')
      }
    },
  )

  it('answers HEAD with no body and the same tag, weak or not', async () => {
    const head = await get(LIST, GZIP, 'HEAD')
    expect([head.status, head.body.length]).toEqual([200, 0])
    const plainTag = `${(await get(LIST, {})).headers['etag']}`
    expect(`${head.headers['etag']}`.replace(/^W\//, '')).toBe(plainTag)
  })
})

describe('an edge that is not to compress orders', () => {
  it('sends orders plain, however their path is spelled, and compresses the docs alone', async () => {
    const headers = { ...GZIP, authorization }
    for (const path of [LIST, LIST.replace('v', '%76'), '/v1/orders/ord_1']) {
      const { status, headers: answered } = await plainEdge.call(path, { headers })
      expect([status, answered['content-encoding']]).toEqual([200, undefined])
    }
    const { headers: docs } = await plainEdge.call('/openapi.json', { headers: GZIP })
    expect(docs['content-encoding']).toBe('gzip')
  })
})

describe('compressed is', () => {
  const encodingOf = async (headers: Record<string, string>) =>
    (await anyEdge.call('/', { headers: { ...GZIP, ...headers } })).headers['content-encoding']

  it.each([
    'application/json; charset=utf-8',
    'text/html; charset=utf-8',
    'text/css',
    'text/javascript',
    'application/javascript',
    'text/markdown; charset=utf-8',
    'text/plain',
    'application/atom+xml',
  ])('%s', async (type) => {
    expect(await encodingOf({ 'x-type': type })).toBe('gzip')
  })

  it.each(['image/png', 'font/woff2', 'application/octet-stream'])(
    'not %s, which is dense already',
    async (type) => {
      expect(await encodingOf({ 'x-type': type })).toBeUndefined()
    },
  )

  it.each(['400', '404', '429', '503'])('not an error: %s', async (status) => {
    const error = { 'x-type': 'application/json', 'x-status': status }
    expect(await encodingOf(error)).toBeUndefined()
  })

  it('nothing for a client that refuses it', async () => {
    const refusal = { 'x-type': 'application/json', 'accept-encoding': 'gzip;q=0' }
    expect(await encodingOf(refusal)).toBeUndefined()
  })
})
