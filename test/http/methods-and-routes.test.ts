import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'
import { sourceOrder } from '../support/orders/source-order.ts'

let app: TestApp
let key: string

beforeAll(async () => {
  app = await createTestApp()
  key = (await app.issue()).key
  await app.load([sourceOrder({ id: 'ord_there' })])
})
afterAll(() => app.close())

describe('Request-Id', () => {
  it.each(['/v1/orders', '/v1/orders/ord_there', '/v1/nope', '/elsewhere', '/openapi.json'])(
    'Request-Id is set by the service on the response to %s',
    async (url) => {
      const { headers } = await app.call(url, { key, headers: { 'request-id': 'req_mine' } })
      expect(headers['request-id']).toMatch(/^req_[0-9a-f]{32}$/)
    },
  )

  it('equals error.request_id', async () => {
    const error = await app.error('/v1/orders?limit=0', { key })
    expect(error.request_id).toBe(error.headers['request-id'])
  })

  it('differs for every request', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await app.call('/x')).headers['request-id']),
    )
    expect(new Set(ids).size).toBe(20)
  })
})

describe('resource_missing', () => {
  const missing = [
    '/v1',
    '/v1/',
    '/v1/nope',
    '/v1/orders/',
    '/v1/orders/ord_missing',
    '/v1/orders/ord_there/',
    '/v1/orders/ord_there/items',
    '/v1/orders/ORD_THERE',
    '/v1/orders/there',
    '/v1/orders/ord_there%00',
    `/v1/orders/ord_${'x'.repeat(61)}`,
    `/v1/orders/${'x'.repeat(2000)}`,
  ]

  it.each(missing)(
    'the 404 of %s below /v1 is resource_missing, with the limits of the account',
    async (url) => {
      const error = await app.error(url, { key })
      expect(error).toMatchObject({
        status: 404,
        type: 'invalid_request_error',
        code: 'resource_missing',
      })
      expect(error.headers).toHaveProperty('ratelimit-remaining')
    },
  )

  it.each(['/', '/orders', '/V1/orders', '//v1/orders', '/v2/orders'])(
    'the 404 of %s is resource_missing, without a key',
    async (url) => {
      expect(await app.error(url)).toMatchObject({ status: 404, code: 'resource_missing' })
    },
  )

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    'the response to the method %s is resource_missing',
    async (method) => {
      for (const contentType of ['application/json', 'no/such-type', '']) {
        const headers = { 'content-type': contentType }
        const call = { method, key, headers, body: '{"half' }
        expect((await app.error('/v1/orders', call)).status).toBe(404)
        expect((await app.error('/elsewhere', call)).status).toBe(404)
      }
    },
  )

  it('the response to OPTIONS without a key is resource_missing, which is no failed authentication', async () => {
    for (let call = 0; call < 40; call++) {
      const { status } = await app.call('/v1/orders', { method: 'OPTIONS', from: '10.2.0.1' })
      expect(status).toBe(404)
    }
    expect((await app.call('/v1/orders', { from: '10.2.0.1' })).status).toBe(401)
  })
})

describe('HEAD', () => {
  it('returns the headers of GET without a body', async () => {
    const get = await app.call('/v1/orders/ord_there', { key })
    const head = await app.call('/v1/orders/ord_there', { key, method: 'HEAD' })
    expect(head.status).toBe(200)
    expect(head.text).toBe('')
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
    expect(head.headers['content-type']).toBe(get.headers['content-type'])
  })

  it('returns 404 for a missing order', async () => {
    const { status } = await app.call('/v1/orders/ord_missing', { key, method: 'HEAD' })
    expect(status).toBe(404)
  })
})

describe('a body on GET', () => {
  it('a body on GET is ignored, whatever its type', async () => {
    const { status } = await app.call('/v1/orders', {
      key,
      headers: { 'content-type': 'application/json' },
      body: '{"half',
    })
    expect(status).toBe(200)
  })
})

describe('GET /v1/orders/{id}', () => {
  it('returns the bare order', async () => {
    const { status, json } = await app.call('/v1/orders/ord_there', { key })
    expect(status).toBe(200)
    expect(json).toMatchObject({ object: 'order', id: 'ord_there', role: 'OWNER' })
  })

  it('hides the order of another account', async () => {
    const other = await app.issue({ accountId: 'acc_other' })
    const error = await app.error('/v1/orders/ord_there', { key: other.key })
    expect(error.code).toBe('resource_missing')
  })

  it('names the ignored parameters', async () => {
    const { headers } = await app.call('/v1/orders/ord_there?expand=customer', { key })
    expect(headers['ignored-params']).toBe('expand')
  })
})
