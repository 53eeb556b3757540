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
/** Responses of each media type and of statuses that the API does not all use. */
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

/** Calls over HTTP/2, which exposes the raw bytes of a body. */
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
  it('the edge compresses a page for a client that accepts gzip, with equal bytes', async () => {
    const [plain, small] = [await get(LIST, {}), await get(LIST, GZIP)]
    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect(small.headers).toMatchObject({ 'content-encoding': 'gzip' })
    expect(small.body.length).toBeLessThan(plain.body.length / 5)
    expect(gunzipSync(small.body).equals(plain.body)).toBe(true)
  })

  it('a page varies by Accept-Encoding and Authorization', async () => {
    const { headers } = await get(LIST, GZIP)
    const vary = `${headers['vary']}`.toLowerCase().split(/, ?/)
    expect(new Set(vary)).toEqual(new Set(['authorization', 'prefer', 'accept-encoding']))
  })

  it('a compressed page has the ETag of the plain one as a weak tag', async () => {
    const [plain, small] = [await get(LIST, {}), await get(LIST, GZIP)]
    expect(plain.headers['etag']).toMatch(/^"/)
    expect(small.headers['etag']).toBe(`W/${plain.headers['etag']}`)
  })

  it.each([
    ['compressed', GZIP],
    ['plain', {}],
  ])(
    'the edge responds 304 without a body to a client with the %s form, whatever it accepts now',
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

  it('the edge responds to HEAD without a body and with the same tag', async () => {
    const head = await get(LIST, GZIP, 'HEAD')
    expect([head.status, head.body.length]).toEqual([200, 0])
    const plainTag = `${(await get(LIST, {})).headers['etag']}`
    expect(`${head.headers['etag']}`.replace(/^W\//, '')).toBe(plainTag)
  })
})

describe('an edge with compression of orders disabled', () => {
  it('the edge sends orders uncompressed for any spelling of the path and compresses only the docs', async () => {
    const headers = { ...GZIP, authorization }
    for (const path of [LIST, LIST.replace('v', '%76'), '/v1/orders/ord_1']) {
      const { status, headers: answered } = await plainEdge.call(path, { headers })
      expect([status, answered['content-encoding']]).toEqual([200, undefined])
    }
    const { headers: docs } = await plainEdge.call('/openapi.json', { headers: GZIP })
    expect(docs['content-encoding']).toBe('gzip')
  })
})

describe('the compression of the edge', () => {
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
  ])('the edge compresses %s', async (type) => {
    expect(await encodingOf({ 'x-type': type })).toBe('gzip')
  })

  it.each(['image/png', 'font/woff2', 'application/octet-stream'])(
    'the edge does not compress %s, which is already compressed',
    async (type) => {
      expect(await encodingOf({ 'x-type': type })).toBeUndefined()
    },
  )

  it.each(['400', '404', '429', '503'])(
    'the edge does not compress an error: %s',
    async (status) => {
      const error = { 'x-type': 'application/json', 'x-status': status }
      expect(await encodingOf(error)).toBeUndefined()
    },
  )

  it('the edge does not compress for a client that rejects gzip', async () => {
    const headers = { 'x-type': 'application/json', 'accept-encoding': 'gzip;q=0' }
    expect(await encodingOf(headers)).toBeUndefined()
  })
})
