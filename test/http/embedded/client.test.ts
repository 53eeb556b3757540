import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  ApiError,
  ConnectionError,
  createOrdersClient,
  EdgeError,
  type ListParams,
  UnexpectedResponseError,
  UsageError,
  type Wait,
} from '../../../src/client/client.ts'
import { createTransport } from '../../../src/client/http/transport.ts'
import {
  type FaultServer,
  type ServerResponseStub,
  startFaultServer,
} from '../../support/http/fault-server.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { collect } from '../../support/orders/collect.ts'
import { confuseParser, QUOTE_TRACKING } from '../../support/orders/escaped-names.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { walk } from '../../support/simulation/walk.ts'

const ORDERS = 23

let app: TestApp
let faultServer: FaultServer
let key: string

beforeAll(async () => {
  app = await createTestApp()
  key = (await app.issue()).key
  await app.load(
    Array.from({ length: ORDERS }, (_, at) => {
      const minute = String(at).padStart(2, '0')
      return sourceOrder({
        id: `ord_${minute}`,
        status: at % 3 === 0 ? 'UNPAID' : 'PAID',
        created_at: `2026-03-01T12:${minute}:00.000Z`,
        changed_at: at % 5 === 0 ? null : `2026-03-02T12:${minute}:00.000Z`,
      })
    }),
  )
  faultServer = await startFaultServer(await app.app.listen({ port: 0, host: '127.0.0.1' }))
})
afterAll(async () => {
  await faultServer.close()
  await app.close()
})
afterEach(() => faultServer.forget())

/** A client of the fault server, which records its waits. */
function connect(options: { apiKey?: string; retryForMs?: number; timeoutMs?: number } = {}) {
  const waits: Wait[] = []
  const client = createOrdersClient({
    baseUrl: faultServer.baseUrl,
    apiKey: key,
    onWait: (wait) => waits.push(wait),
    ...options,
  })
  return { ...client.orders, account: client.account, waits }
}

describe('the account', () => {
  it('account.get returns the account and the key', async () => {
    const { account } = connect()
    expect(await account.get()).toMatchObject({
      object: 'account',
      id: 'acc_1',
      key: { scopes: ['orders:read'], expires_at: null },
    })
  })

  it('account.get rejects a response that is no account', async () => {
    const { account } = await connectKnown()
    const headers = { 'content-type': 'application/json' }
    faultServer.plan({ status: 200, headers, body: '{"object":"order","id":"acc_1"}' })
    await expect(account.get()).rejects.toThrow(UnexpectedResponseError)
  })
})

/** A client that has received a response of the API. */
async function connectKnown(options: Parameters<typeof connect>[0] = {}) {
  const orders = connect(options)
  await orders.get('ord_00')
  faultServer.forget()
  return orders
}

const statuses = () => faultServer.requests.map(({ outcome }) => outcome)
const text = (status: number, body: string, headers = {}): ServerResponseStub => ({
  status,
  body,
  headers: { 'content-type': 'text/html', ...headers },
})
const failure = async (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error) => error,
  )

async function listAll(query: string): Promise<unknown[]> {
  return (await walk(app, (await app.issue()).key, query)).flatMap(({ data }) => data)
}

describe('a listing of the client', () => {
  it.each<[string, ListParams]>([
    ['limit=100', {}],
    ['limit=100&sort=updated_at_asc', { sort: 'updated_at_asc' }],
    ['limit=5&status=PAID', { status: 'PAID', limit: 5 }],
    ['limit=2&status=PAID,UNPAID', { status: ['PAID', 'UNPAID'], limit: 2 }],
    [
      'limit=3&created_gte=2026-03-01T12:07:00Z',
      { limit: 3, created_gte: new Date('2026-03-01T12:07:00Z') },
    ],
  ])('the client lists the same orders as %s', async (query, params) => {
    expect(await collect(connect().list(params))).toEqual(await listAll(query))
  })

  it('the client lists page by page, and from a cursor', async () => {
    const orders = connect()
    const pages = await collect(orders.list({ limit: 10 }).pages())
    expect(pages.map((page) => page.orders.length)).toEqual([10, 10, 3])

    const cursor = pages[0]?.nextCursor ?? ''
    const rest = await collect(orders.list({ limit: 10, cursor }))
    expect(rest).toEqual(pages.slice(1).flatMap((page) => page.orders))
  })

  it('the client requests no further page after the loop breaks', async () => {
    for await (const _order of connect().list({ limit: 2 })) break
    expect(faultServer.requests).toHaveLength(1)
  })

  it('the client returns tracking keys exactly, despite the V8 bug with escaped names', async () => {
    confuseParser()
    const order = { object: 'order', id: 'ord_1', updated_at: null, tracking: QUOTE_TRACKING }
    const body = JSON.stringify({
      object: 'list',
      data: [order],
      has_more: false,
      next_cursor: null,
    })
    faultServer.plan((answer) => ({ ...answer, body }))
    const [listed] = await collect(connect().list({ limit: 100 }))
    expect(JSON.stringify(listed)).toBe(JSON.stringify(order))
  })

  it('the client returns values and fields that a newer API adds', async () => {
    const newer = { brand: 'NOVA', wallet: 'x' }
    faultServer.plan((answer) => ({
      ...answer,
      body: JSON.stringify({
        ...JSON.parse(answer.body ?? ''),
        data: [
          {
            object: 'order',
            id: 'ord_1',
            updated_at: null,
            status: 'NOVO',
            payment: { card: newer },
          },
        ],
      }),
    }))
    const [order] = await collect(connect().list({ limit: 100 }))
    expect(order).toMatchObject({ status: 'NOVO', payment: { card: newer } })
  })

  it.each([
    ['has no cursor for its next page', { data: [], has_more: true, next_cursor: null }],
    ['lacks has_more', { data: [], next_cursor: null }],
    ['is the last one and has a cursor', { data: [], has_more: false, next_cursor: 'abc' }],
    [
      'contains an object other than an order',
      { data: [{ foo: 1 }], has_more: false, next_cursor: null },
    ],
    ['contains null', { data: [null], has_more: false, next_cursor: null }],
  ])('the client rejects a page that %s', async (_what, page) => {
    faultServer.plan(text(200, JSON.stringify({ object: 'list', ...page })))
    const error = await failure(collect(connect().list()))
    expect(error).toBeInstanceOf(UnexpectedResponseError)
  })

  it('the client rejects a page whose next cursor is its own', async () => {
    const cursor = 'abc'
    faultServer.plan(
      text(200, JSON.stringify({ object: 'list', data: [], has_more: true, next_cursor: cursor })),
    )
    const error = await failure(collect(connect().list({ cursor })))
    expect(error).toBeInstanceOf(UnexpectedResponseError)
  })
})

describe('an error of the client', () => {
  it('the client throws a 404 as ApiError with the request id', async () => {
    const error = await failure(connect().get('ord_nada'))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status: 404, code: 'resource_missing', param: null })
    expect(error.requestId).toMatch(/^req_[0-9a-f]{32}$/)
  })

  it.each([
    [{ limit: 101 }, 'limit'],
    [{ created_gte: '2026-03-01' }, 'created_gte'],
    [{ cursor: 'nada' }, 'cursor'],
    [{ statuss: 'PAID' }, 'statuss'],
  ])('the client throws ApiError with the invalid parameter of %j', async (params, param) => {
    const error = await failure(collect(connect().list(params as ListParams)))
    expect(error).toMatchObject({ name: 'ApiError', code: 'invalid_request', param })
    expect(faultServer.requests).toHaveLength(1)
  })

  it('the client throws ApiError for an invalid key after one try', async () => {
    const error = await failure(connect({ apiKey: 'key_live_nada' }).get('ord_00'))
    expect(error).toMatchObject({ name: 'ApiError', status: 401, code: 'invalid_api_key' })
    expect(statuses()).toEqual([401])
  })

  it('the client throws the same 401 for all queued calls without sending them', async () => {
    const { get } = connect({ apiKey: 'key_live_nada' })
    const calls = Array.from({ length: 40 }, () => failure(get('ord_00')))
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 401))
    expect(statuses()).toEqual([401])
  })

  it('the client throws the same 401 for calls of the next seconds without sending them', async () => {
    const { get } = connect({ apiKey: 'key_live_nada' })
    for (let call = 0; call < 3; call++) {
      expect(await failure(get('ord_00'))).toMatchObject({ status: 401 })
    }
    expect(statuses()).toEqual([401])
  })

  it('the client sends calls again some seconds after a 401', async () => {
    let nowMs = 0
    const { baseUrl } = faultServer
    const limits = { timeoutMs: 30_000, retryForMs: 0, onWait() {}, fetch, clock: () => nowMs }
    const transport = createTransport({ baseUrl, apiKey: key, ...limits })
    const get = () => failure(transport.get('/v1/orders/ord_00', new URLSearchParams()))
    faultServer.plan(text(401, '{"error":{"code":"invalid_api_key","message":"Não."}}'))
    expect(await get()).toMatchObject({ status: 401 })
    nowMs = 4_999
    expect(await get()).toMatchObject({ status: 401 })
    nowMs = 5_000
    expect(await get()).toBeUndefined()
    expect(statuses()).toEqual([401, 200])
  })

  it('the client throws UsageError for invalid arguments without sending a request', async () => {
    const orders = connect()
    const ids = [undefined, '', 'a/b', '..']
    for (const id of ids) await expect(orders.get(id as string)).rejects.toThrow(UsageError)
    const dated = collect(orders.list({ created_gte: new Date('x') }))
    await expect(dated).rejects.toThrow(UsageError)
    expect(faultServer.requests).toEqual([])
  })

  it.each<[string, ServerResponseStub, new (...args: never[]) => Error, RegExp]>([
    ['the firewall', { status: 403 }, EdgeError, /firewall/],
    ['plain HTTP', text(400, 'Esta API'), EdgeError, /HTTPS/],
    [
      'a redirect',
      text(302, '', { location: 'https://x/' }),
      UnexpectedResponseError,
      /https:\/\/x/,
    ],
    ['another server', text(404, '<html>'), UnexpectedResponseError, /não é desta API \(404/],
    ['a text of one character', text(404, 'x'), UnexpectedResponseError, /, 1 caractere\)/],
    ['a portal', text(200, '<html>'), UnexpectedResponseError, /proxy ou um portal/],
    ['other JSON', text(200, '{"ok":true}'), UnexpectedResponseError, /não é um pedido/],
  ])(
    'the client throws after one try for a response of %s',
    async (_source, answer, kind, message) => {
      faultServer.plan(answer)
      const error = await failure(connect().get('ord_00'))
      expect(error).toBeInstanceOf(kind)
      expect(error.message).toMatch(message)
      expect(faultServer.requests).toHaveLength(1)
    },
  )

  it.each<[string, (client: ReturnType<typeof connect>) => Promise<unknown>]>([
    ['an order', ({ get }) => get('ord_00')],
    ['a page', ({ list }) => collect(list())],
    ['an account', ({ account }) => account.get()],
  ])('the error for JSON that is not %s has its Request-Id', async (_what, call) => {
    faultServer.plan(text(200, '{"ok":true}', { 'request-id': 'req_1' }))
    const error = await failure(call(connect()))
    expect(error).toBeInstanceOf(UnexpectedResponseError)
    expect(error).toMatchObject({ status: 200, requestId: 'req_1' })
  })

  it.each([
    ['another server', text(404, '<html>')],
    ['a redirect', text(301, '', { location: 'https://x/v1/orders?customer_email=ana@x.br' })],
  ])('the error for a response of %s has no value of a filter', async (_source, answer) => {
    faultServer.plan(answer)
    const error = await failure(collect(connect().list({ customer_email: 'ana@x.br' })))
    expect(error).toBeInstanceOf(UnexpectedResponseError)
    expect(error.message).not.toMatch(/customer_email|ana/)
  })

  it('the client throws ConnectionError soon for an address that never responded', async () => {
    const client = createOrdersClient({ baseUrl: 'http://127.0.0.1:1', apiKey: key })
    const error = await failure(client.orders.get('ord_00'))
    expect(error).toBeInstanceOf(ConnectionError)
    expect(error.message).toMatch(/127\.0\.0\.1:1 .*Confira a rede e o endereço/)
  })

  it('the client throws EdgeError with the wait of a rejection by volume', async () => {
    const orders = await connectKnown({ retryForMs: 0 })
    faultServer.plan({ status: 429, headers: { 'retry-after': '1' } })
    const error = await failure(orders.get('ord_00'))
    expect(error).toBeInstanceOf(EdgeError)
    expect(error.message).toMatch(/ Espere 1 s\.$/)
  })

  it('the client throws the last error once retryForMs is over', async () => {
    const orders = await connectKnown({ retryForMs: 0 })
    faultServer.plan('cut')
    expect(await failure(orders.get('ord_00'))).toBeInstanceOf(ConnectionError)
  })

  it('the client throws ConnectionError after timeoutMs', async () => {
    const orders = connect({ timeoutMs: 100, retryForMs: 0 })
    faultServer.plan('silence')
    expect((await failure(orders.get('ord_00'))).message).toMatch(/demorou demais/)
  })

  it('the client accepts a fraction of a millisecond as timeoutMs', async () => {
    const orders = connect({ timeoutMs: 30_000.5, retryForMs: 0 })
    expect(await orders.get('ord_00')).toMatchObject({ id: 'ord_00' })
  })

  it('the client throws the abort reason of the signal', async () => {
    const orders = await connectKnown()
    faultServer.plan(text(429, '', { 'retry-after': '60' }))
    const reason = new Error('enough')
    const control = new AbortController()
    const call = failure(orders.get('ord_00', { signal: control.signal }))
    await expect.poll(() => orders.waits.length).toBe(1)
    control.abort(reason)
    expect(await call).toBe(reason)
  })
})

describe('a retry of the client', () => {
  it.each<[string, ServerResponseStub | 'cut' | 'reset', number]>([
    ['a 503 of the service', unavailable(), 1_000],
    ['an empty 503 of the load balancer', { status: 503 }, 0],
    ['a 502 with an HTML page of the load balancer', text(502, '<html>'), 0],
    ['the volume limit of the edge', { status: 429, headers: { 'retry-after': '1' } }, 1_000],
    ['a truncated response', 'cut', 0],
    ['a connection that was reset', 'reset', 0],
    ['a captive portal at a known address', text(200, '<html>'), 0],
  ])('the client waits and retries after %s', async (_what, fault, atLeastMs) => {
    const orders = await connectKnown()
    faultServer.plan(fault)
    expect(await orders.get('ord_01')).toMatchObject({ id: 'ord_01' })
    expect(faultServer.requests).toHaveLength(2)
    expect(orders.waits.map(({ waitMs }) => waitMs >= atLeastMs)).toEqual([true])
  })

  it.each([429, 503])('the client waits for the Retry-After of a gateway’s %i', async (status) => {
    const orders = await connectKnown()
    faultServer.plan(text(status, '{}', { 'request-id': 'gw-1', 'retry-after': '1' }))
    expect(await orders.get('ord_01')).toMatchObject({ id: 'ord_01' })
    expect(orders.waits.map(({ waitMs }) => waitMs)).toEqual([1_000])
  })

  it('the client waits by the clock of the sender when Retry-After is a date', async () => {
    const orders = await connectKnown()
    const now = 'Mon, 05 Jan 2099 10:00:00 GMT'
    const then = 'Mon, 05 Jan 2099 10:00:01 GMT'
    faultServer.plan({ status: 503, headers: { date: now, 'retry-after': then } })
    await orders.get('ord_01')
    expect(orders.waits.map(({ waitMs }) => waitMs)).toEqual([1_000])
  })
})

function unavailable(): ServerResponseStub {
  const error = {
    type: 'api_error',
    code: 'service_unavailable',
    message: 'm',
    request_id: 'req_1',
  }
  return {
    status: 503,
    headers: { 'content-type': 'application/json', 'request-id': 'req_1', 'retry-after': '1' },
    body: JSON.stringify({ error }),
  }
}
