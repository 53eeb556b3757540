import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  openSocket,
  type RawResponse,
  readResponses,
  sendRaw,
} from '../../support/http/raw-http.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

let app: TestApp
let port: number
let authorization: string

beforeAll(async () => {
  app = await createTestApp()
  await app.load([sourceOrder()])
  authorization = `Authorization: Bearer ${(await app.issue()).key}\r\n`
  await app.app.listen({ port: 0 })
  port = (app.app.server.address() as AddressInfo).port
})
afterAll(() => app.close())

const HOST = 'Host: localhost\r\n'
const get = (path: string, headers: string) => `GET ${path} HTTP/1.1\r\n${HOST}${headers}\r\n`

/** Status and code of an error, after its body and headers are verified. */
function errorOf(answer: RawResponse | undefined) {
  const { error } = JSON.parse(answer?.body ?? '')
  expect(answer?.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(answer?.headers['request-id']).toMatch(/^req_[0-9a-f]{32}$/)
  expect(error.request_id).toBe(answer?.headers['request-id'])
  return { status: answer?.status, code: error.code }
}

const badRequest = { status: 400, code: 'invalid_request' }
const unauthenticated = { status: 401, code: 'invalid_api_key' }
const notFound = { status: 404, code: 'resource_missing' }

const long = 'x'.repeat(17 * 1024)

describe('a request that the HTTP parser rejects', () => {
  it.each([
    ['no Host', () => `GET /v1/orders HTTP/1.1\r\n${authorization}\r\n`],
    ['two Hosts', () => get('/v1/orders', `Host: elsewhere\r\n${authorization}`)],
    ['garbage', () => '\u0016\u0003\u0001 this is not HTTP\r\n\r\n'],
    ['a single line', () => 'hello\r\n\r\n'],
    ['an unknown method', () => `FETCH /v1/orders HTTP/1.1\r\n${HOST}\r\n`],
    ['no version', () => `GET /v1/orders\r\n${HOST}${authorization}\r\n`],
    ['an unknown version', () => `GET /v1/orders HTTP/9.9\r\n${HOST}\r\n`],
    ['a header over 16 KB', () => get('/v1/orders', `X-Long: ${long}\r\n${authorization}`)],
    ['a path over 16 KB', () => get(`/v1/orders/${long}`, authorization)],
    ['a megabyte of headers', () => get('/', `X-Long: ${long}\r\n`.repeat(60))],
    ['a header without a name', () => get('/v1/orders', `: x\r\n${authorization}`)],
    ['a line break inside a header', () => get('/v1/orders', `X: a\rb\r\n${authorization}`)],
    ['two Content-Lengths', () => get('/v1/orders', 'Content-Length: 1\r\nContent-Length: 2\r\n')],
    ['a non-numeric length', () => get('/v1/orders', 'Content-Length: many\r\n')],
    [
      'a length and chunks',
      () => get('/v1/orders', 'Content-Length: 1\r\nTransfer-Encoding: chunked\r\n'),
    ],
    ['Expect: 100-continue', () => get('/v1/orders', `Expect: 100-continue\r\n${authorization}`)],
    ['an unknown Expect', () => get('/v1/orders', `Expect: a-miracle\r\n${authorization}`)],
    ['CONNECT', () => `CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`],
    ['a URL without a host', () => get('http:///v1/orders', authorization)],
    ['a URL with a malformed host', () => get('http://a%zz/v1/orders', authorization)],
    ['a path with a fragment', () => get('/v1/orders#x?limit=0', authorization)],
    ['a URL with a fragment', () => get('http://localhost/v1/orders#x', authorization)],
  ])('gets 400 with our error body and a closed connection: %s', async (_name, bytes) => {
    const [answer, ...others] = await sendRaw(port, bytes())
    expect(errorOf(answer)).toEqual(badRequest)
    expect(JSON.parse(answer?.body ?? '').error).not.toHaveProperty('param')
    expect(answer?.headers['connection']).toBe('close')
    expect(others).toEqual([])
  })

  it('a request that the HTTP parser rejects does not stop the server', async () => {
    const [answer] = await sendRaw(port, get('/v1/orders', authorization), 1)
    expect(answer?.status).toBe(200)
  })

  it.each([
    ['garbage', '\u0000garbage\r\n\r\n'],
    ['CONNECT', `CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`],
  ])(
    'a request that the HTTP parser rejects gets its response after the requests before it: %s',
    async (_name, bad) => {
      const bytes = get('/v1/orders/ord_1', authorization).repeat(3)
      const answers = await sendRaw(port, `${bytes}${bad}`)
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400])
      expect(errorOf(answers.at(-1))).toEqual(badRequest)
    },
  )

  it('leaves earlier responses on the same connection complete', async () => {
    const socket = await openSocket(port)
    socket.write(get('/v1/orders/ord_1', authorization))
    const [first] = await once(socket, 'data')
    expect(String(first)).toContain('HTTP/1.1 200 OK')
    socket.write('garbage\r\n\r\n')
    expect(errorOf((await readResponses(socket))[0])).toEqual(badRequest)
  })
})

describe('the service on unusual but readable requests', () => {
  it('returns 401 for two Authorization headers', async () => {
    const [answer] = await sendRaw(port, get('/v1/orders', authorization + authorization), 1)
    expect(errorOf(answer)).toEqual(unauthenticated)
  })

  it.each(['/v1/orders/%zz', '/v1/orders/%', '/v1/orders/%ff', '/v1/%zz?limit=%zz'])(
    'the service does not decode %s: it checks the key, then returns 404',
    async (path) => {
      expect(errorOf((await sendRaw(port, get(path, ''), 1))[0])).toEqual(unauthenticated)
      expect(errorOf((await sendRaw(port, get(path, authorization), 1))[0])).toEqual(notFound)
    },
  )

  it.each(['/%zz', '/%', '*', '/..;/v1'])('returns 404 for the path %s', async (path) => {
    expect(errorOf((await sendRaw(port, get(path, authorization), 1))[0])).toEqual(notFound)
  })

  it('returns 404 for an id of 2,000 characters', async () => {
    const [answer] = await sendRaw(port, get(`/v1/orders/${'x'.repeat(2000)}`, authorization), 1)
    expect(errorOf(answer)).toEqual(notFound)
  })

  it.each(['PROPFIND', 'TRACE', 'M-SEARCH', 'QUERY'])(
    'returns 404 for the method %s',
    async (method) => {
      const bytes = `${method} /v1/orders HTTP/1.1\r\n${HOST}${authorization}\r\n`
      expect(errorOf((await sendRaw(port, bytes, 1))[0])).toEqual(notFound)
    },
  )

  it('serves HTTP/1.0 without a Host', async () => {
    const [answer] = await sendRaw(port, `GET /v1/orders HTTP/1.0\r\n${authorization}\r\n`)
    expect(answer?.status).toBe(200)
  })

  it.each(['/v1/orders', '/v1/orders?limit=1', '/docs', '/docs.md?x', '/docs/page.css'])(
    'serves the absolute form of %s',
    async (path) => {
      const [answer] = await sendRaw(port, get(`http://localhost${path}`, authorization), 1)
      expect(answer?.status).toBe(200)
    },
  )

  it('serves a request with an Upgrade header', async () => {
    const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\n${authorization}`
    const [answer] = await sendRaw(port, get('/v1/orders', upgrade), 1)
    expect(answer?.status).toBe(200)
  })

  it('ignores a body with a length or in chunks', async () => {
    const sized = `Content-Length: 5\r\n${authorization}`
    const chunked = `Transfer-Encoding: chunked\r\n${authorization}`
    const bytes = `${get('/v1/orders', sized)}hello${get('/v1/orders', chunked)}5\r\nhello\r\n0\r\n\r\n`
    const answers = await sendRaw(port, bytes, 2)
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  })

  it.each([
    ['a chunk without a size', 'Transfer-Encoding: chunked', 'ZZ\r\n'],
    ['a chunk of another size', 'Transfer-Encoding: chunked', '1\r\nabc\r\n0\r\n\r\n'],
  ])(
    'responds once and closes the connection when the body is malformed: %s',
    async (_name, header, body) => {
      const bytes = `${get('/v1/orders', `${header}\r\n${authorization}`)}${body}`
      const answers = await sendRaw(port, bytes)
      expect(answers.map(({ status }) => status)).toEqual([200])
    },
  )

  it('responds to pipelined requests in order, each with a separate id', async () => {
    const answers = await sendRaw(
      port,
      get('/v1/orders', authorization) + get('/v1/nope', authorization) + get('/nope', ''),
      3,
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404])
    expect(new Set(answers.map(({ headers }) => headers['request-id'])).size).toBe(3)
  })
})

describe('a request in flight during shutdown', () => {
  it('gets a complete response, and its connection is closed', async () => {
    const closing = await createTestApp()
    const { key } = await closing.issue()
    await closing.app.listen({ port: 0 })
    const { port: closingPort } = closing.app.server.address() as AddressInfo
    const socket = await openSocket(closingPort)
    const bytes = get('/v1/orders?limit=0', `Authorization: Bearer ${key}\r\n`)

    socket.write(bytes.slice(0, 40))
    await new Promise((resolve) => setTimeout(resolve, 50))
    const closed = closing.close()
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.write(bytes.slice(40))

    const [answer] = await readResponses(socket)
    expect(errorOf(answer)).toEqual(badRequest)
    expect(answer?.headers['connection']).toBe('close')
    await closed
  })
})
