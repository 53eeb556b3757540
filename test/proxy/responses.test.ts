import { once } from 'node:events'
import { createServer } from 'node:http'
import {
  connect as connectH2,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HOST, type ProxyUnderTest, startProxy } from '../support/http/proxy.ts'
import { readResponses } from '../support/http/raw-http.ts'
import { openServedStore, type ServedStore } from '../support/stores/served-store.ts'

let store: ServedStore
let key: string
let edge: ProxyUnderTest
beforeAll(async () => {
  store = openServedStore()
  const [service, created] = await Promise.all([store.serve(), store.createKey('acc_1')])
  key = created
  edge = await startProxy([service])
})
afterAll(async () => {
  await edge.stop()
  await store.close()
})

/** The UTF-8 bytes of a text, as the HTTP/2 client takes them. */
const latin1 = (text: string) => Buffer.from(text).toString('latin1')

/** Sends one request over HTTP/2, with the headers as they are. */
async function callH2(headers: OutgoingHttpHeaders) {
  const session = connectH2(`https://localhost:${edge.httpsPort}`, { ca: edge.ca })
  try {
    const own = { ':authority': HOST, authorization: `Bearer ${key}` }
    const stream = session.request({ ...own, ...headers })
    const [received] = await once(stream, 'response')
    return { headers: received as IncomingHttpHeaders, body: await text(stream) }
  } finally {
    session.destroy()
  }
}

describe('plain HTTP', () => {
  it('the edge rejects plain HTTP with a hint to use HTTPS and does not forward it', async () => {
    const response = await fetch(`http://127.0.0.1:${edge.httpPort}/v1/orders?limit=1`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(response.headers.has('request-id')).toBe(false)
    expect(await response.text()).toMatch(/^Esta API só atende por HTTPS: [^.]+\.\n$/)
  })

  it('the edge closes plain HTTP on the TLS port without a response', async () => {
    await expect(fetch(`http://127.0.0.1:${edge.httpsPort}/`)).rejects.toThrow()
  })
})

describe('TLS', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)('the edge accepts %s', async (version) => {
    const socket = await edge.open({ minVersion: version, maxVersion: version })
    expect(socket.getProtocol()).toBe(version)
    socket.destroy()
  })

  it.each(['TLSv1', 'TLSv1.1'] as const)('the edge rejects %s', async (version) => {
    const old = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' }
    await expect(edge.open(old)).rejects.toThrow(/alert protocol version/)
  })

  it('the edge negotiates HTTP/2 and falls back to HTTP/1.1', async () => {
    for (const [offered, chosen] of [
      [['h2', 'http/1.1'], 'h2'],
      [['http/1.1'], 'http/1.1'],
    ] as const) {
      const socket = await edge.open({ ALPNProtocols: [...offered] })
      expect(socket.alpnProtocol).toBe(chosen)
      socket.destroy()
    }
  })
})

describe('a response of the service', () => {
  it('the edge forwards a response with a Request-Id that ignores the one of the client', async () => {
    const headers = { authorization: `Bearer ${key}`, 'request-id': 'req_mine' }
    const answer = await edge.call('/v1/orders?limit=1', { headers })
    expect(answer.status).toBe(200)
    expect(answer.headers['request-id']).toMatch(/^req_[0-9a-f]{32}$/)
    expect(answer.headers).toHaveProperty('ratelimit-remaining')
    expect(JSON.parse(answer.body)).toMatchObject({ object: 'list', data: [] })
  })

  it('a response carries Strict-Transport-Security', async () => {
    expect((await edge.call('/x')).headers['strict-transport-security']).toBe('max-age=31536000')
  })

  it('a response is also sent over HTTP/2', async () => {
    const { headers, body } = await callH2({ ':path': '/v1/orders' })
    expect(headers[':status']).toBe(200)
    expect(JSON.parse(body)).toMatchObject({ object: 'list' })
  })

  it('the service, not the edge, rejects a request that is too long', async () => {
    const answer = await edge.call(`/v1/orders?cursor=${'a'.repeat(17_000)}`)
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'invalid_request' } })
  })
})

describe('input that is not HTTP', () => {
  it.each([
    ['a line of another protocol', 'EHLO example.com\r\n\r\n'],
    ['a space in the path', `GET /a b HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`],
    ['a byte that is not ASCII', `GET /v1/orders?x=é HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`],
    ['a fragment', `GET /v1/orders#x HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`],
    ['a header without a name', `GET / HTTP/1.1\r\nHost: ${HOST}\r\n: x\r\n\r\n`],
    ['two hosts', `GET / HTTP/1.1\r\nHost: ${HOST}\r\nHost: other.example.com\r\n\r\n`],
    ['headers over 31 KB', `GET / HTTP/1.1\r\nHost: ${HOST}\r\nX: ${'a'.repeat(32_000)}\r\n\r\n`],
    ['a request line over the buffer size', `GET /${'a'.repeat(40_000)} HTTP/1.1\r\n\r\n`],
  ])(
    'HAProxy rejects input that is not HTTP with HTML, without a Request-Id: %s',
    async (_, bytes) => {
      const socket = await edge.open()
      socket.write(bytes)
      const [answer] = await readResponses(socket)
      expect(answer?.status).toBeOneOf([400, 414, 431]) // The last two where HAProxy is new.
      expect(answer?.headers).not.toHaveProperty('request-id')
      expect(answer?.headers['content-type']).toBe('text/html')
      expect(answer?.body).toContain('<html>')
    },
  )

  it.each([
    ['a space in the path', { ':path': '/a b' }],
    ['a control character', { ':path': '/v1/orders?x=\t' }],
    ['a fragment', { ':path': '/v1/orders#x' }],
    ['headers over 31 KB', { ':path': '/v1/orders', x: 'a'.repeat(32_000) }],
  ])('over HTTP/2, HAProxy closes the stream without a response: %s', async (_, headers) => {
    await expect(callH2(headers)).rejects.toThrow('NGHTTP2_PROTOCOL_ERROR')
  })

  it('over HTTP/2, the service rejects a byte that is not ASCII', async () => {
    const { headers, body } = await callH2({ ':path': latin1('/v1/orders?x=é') })
    expect(headers[':status']).toBe(400)
    expect(headers['request-id']).toMatch(/^req_[0-9a-f]{32}$/)
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'invalid_request' } })
  })

  it('over HTTP/2, :authority counts, and not another host', async () => {
    const { headers } = await callH2({ ':path': '/v1/orders', host: 'localhost' })
    expect(headers[':status']).toBe(200)
  })

  it('the edge closes endless input without a response', async () => {
    const edgeWithShortTimeout = await startProxy([await store.serve()], {
      EDGE_HEADERS_TIMEOUT: '200ms',
    })
    const socket = await edgeWithShortTimeout.open()
    const drip = setInterval(() => socket.write('a'), 20) // Shorter than the idle timeout.
    try {
      socket.write(`GET /x HTTP/1.1\r\nHost: ${HOST}\r\nX-Slow: `)
      expect(await readResponses(socket)).toEqual([])
    } finally {
      clearInterval(drip)
      await edgeWithShortTimeout.stop()
    }
  })
})

describe('the client address', () => {
  it('the client address is the one that the edge sees, whatever the client sends', async () => {
    const service = createServer((request, response) => {
      response.end(JSON.stringify(request.headersDistinct))
    })
    await once(service.listen(0, '127.0.0.1'), 'listening')
    const { port } = service.address() as AddressInfo
    const balancer = { EDGE_PROXY_PROTOCOL_FROM: '10.0.0.0/8 127.0.0.1' }
    const edgeBehindBalancer = await startProxy([{ port, operationsPort: port }], balancer)
    try {
      const socket = await edgeBehindBalancer.openFrom('203.0.113.7')
      socket.write(
        `GET / HTTP/1.1\r\nHost: ${HOST}\r\nX-Forwarded-For: 198.51.100.1\r\n` +
          'X-Forwarded-For: 198.51.100.2\r\nForwarded: for=198.51.100.3\r\nX-Real-IP: 198.51.100.4\r\n' +
          'X-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: http\r\n' +
          'Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\nBaggage: a=b\r\n\r\n',
      )
      const [answer] = await readResponses(socket, 1)
      expect(JSON.parse(answer?.body ?? '')).toEqual({
        host: [HOST],
        connection: ['close'],
        'x-forwarded-for': ['203.0.113.7'],
        'x-forwarded-proto': ['https'],
      })
    } finally {
      await edgeBehindBalancer.stop()
      service.close()
    }
  })

  it('the service blocks the client address after 30 bad keys behind a trusted proxy', async () => {
    const service = await store.serve({ TRUST_PROXY: '127.0.0.1' })
    const edgeBehindBalancer = await startProxy([service], {
      EDGE_PROXY_PROTOCOL_FROM: '127.0.0.1',
    })
    const statusesOf = async (address: string, count: number) => {
      const socket = await edgeBehindBalancer.openFrom(address)
      for (let n = 0; n < count; n++)
        socket.write(
          `GET /v1/orders HTTP/1.1\r\nHost: ${HOST}\r\nX-Forwarded-For: 192.0.2.${n}\r\n\r\n`,
        )
      return (await readResponses(socket, count)).map(({ status }) => status)
    }
    try {
      expect(await statusesOf('203.0.113.7', 31)).toEqual([...Array(30).fill(401), 429])
      expect(await statusesOf('203.0.113.8', 1)).toEqual([401])
    } finally {
      await edgeBehindBalancer.stop()
    }
  })
})
