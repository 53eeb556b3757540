import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { collectBytes } from '../../../../src/lib/http-client/body-sink.ts'
import { createHttpPool } from '../../../../src/lib/http-client/pool.ts'
import { serializeRequest } from '../../../../src/lib/http-client/request.ts'
import { makeCertificate } from '../../../harness/services/certificate.ts'

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n'
const FIXED = `${HEAD}Content-Length: 5\r\n\r\nhello`
const CHUNKS = '5\r\nhello\r\nc;ext=1\r\n good mornin\r\n1 \r\ng\r\n0\r\nTrailer: x\r\n\r\n'
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n${CHUNKS}`
const GET = ['GET /orders HTTP/1.1\r\nhost: a\r\n\r\n']

const closing: (() => void)[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const close of closing.splice(0)) close()
})

interface ServeOptions {
  size?: number
  connectTimeoutMs?: number
  server?: Server
  ca?: string
  clock?: () => number
}

/** Calls `respond` for each read of a request. */
async function serve(
  respond: (socket: Socket, request: string) => unknown,
  { size = 1, server = createServer(), ca, ...options }: ServeOptions = {},
) {
  const requests: string[] = []
  const sockets: Socket[] = []
  server.on(ca === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      requests.push(`${bytes}`)
      respond(socket, `${bytes}`)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const host = ca === undefined ? `127.0.0.1:${port}` : `localhost:${port}`
  const origin = `${ca === undefined ? 'http' : 'https'}://${host}`
  const pool = createHttpPool({ origin, ca, size, createSink: collectBytes, ...options })
  closing.push(pool.close, () => server.close())

  async function get(request: readonly (string | Buffer)[] = GET) {
    const { body, ...response } = await pool.send(request).response
    expect(body.buffer.byteLength).toBe(body.length)
    return { ...response, body: `${body}` }
  }
  return { pool, get, requests, sockets }
}

function secureServer({ key, cert, ca }: { key: string; cert: string; ca: string }) {
  return { server: createTlsServer({ key, cert }), ca }
}

/** Sends the text in pieces of so many bytes that arrive one by one. */
async function trickle(socket: Socket, text: string, length: number) {
  socket.setNoDelay(true)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += length) {
    socket.write(bytes.subarray(at, at + length))
    await nextTurn()
  }
}

describe('requests', () => {
  it('A request has its line, host, headers and body, and the next uses the same connection', async () => {
    const served = await serve((socket) => socket.write(FIXED))
    const parts = { path: '/orders?q=%C3%A1', headers: { authorization: 'Bearer a' } }
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', '{"name":"José"}'],
      ['POST', Buffer.from('{"size":21}')],
      ['DELETE', undefined],
    ] as const) {
      await served.get(serializeRequest({ ...parts, method, body }, 'example:9200'))
    }
    const fields = '/orders?q=%C3%A1 HTTP/1.1\r\nhost: example:9200\r\nauthorization: Bearer a\r\n'
    expect(served.requests).toEqual([
      `GET ${fields}\r\n`,
      `POST ${fields}content-length: 16\r\n\r\n{"name":"José"}`,
      `POST ${fields}content-length: 11\r\n\r\n{"size":21}`,
      `DELETE ${fields}content-length: 0\r\n\r\n`,
    ])
    expect(served.sockets).toHaveLength(1)
  })

  it('A long body arrives whole, as text and as bytes', async () => {
    let received = ''
    const served = await serve((socket, text) => {
      received += text
      if (received.endsWith('end')) socket.write(FIXED)
    })
    const text = `${'order '.repeat(300_000)}end`
    for (const body of [text, Buffer.from(text)]) {
      received = ''
      await served.get(serializeRequest({ method: 'POST', path: '/', headers: {}, body }, 'a'))
      expect(received.slice(received.indexOf('\r\n\r\n') + 4) === text).toBe(true)
    }
  })

  it.each([
    ['a line break in the path', { path: '/a\r\nx: y' }, 'percent-encoded'],
    ['a space in the path', { path: '/a b' }, 'percent-encoded'],
    ['another host in the path', { path: 'http://b/' }, 'percent-encoded'],
    ['a line break in a header', { headers: { a: 'b\r\nc: d' } }, 'header a'],
    ['the method HEAD', { method: 'HEAD' as 'GET' }, 'HEAD'],
  ])('A request with %s is refused', (_, wrong, problem) => {
    const request = { method: 'GET' as const, path: '/', headers: {}, ...wrong }
    expect(() => serializeRequest(request, 'a')).toThrow(problem)
  })

  it('Requests beyond the size of the pool wait for a free connection', async () => {
    const waiting: Socket[] = []
    const served = await serve((socket) => waiting.push(socket), { size: 2 })
    const sent = Promise.all(Array.from({ length: 6 }, () => served.get()))
    for (let answered = 0; answered < 6; answered += 2) {
      await expect.poll(() => waiting.length).toBe(2)
      for (const socket of waiting.splice(0)) socket.write(FIXED)
    }
    expect(await sent).toHaveLength(6)
    expect(served.sockets).toHaveLength(2)
  })

  it('A server with TLS is verified with the given authority', async () => {
    const certificate = await makeCertificate()
    const served = await serve((socket) => socket.write(CHUNKED), secureServer(certificate))
    expect(await served.get()).toMatchObject({ status: 200, body: 'hello good morning' })
    const foreign = { ...certificate, ca: (await makeCertificate()).ca }
    const other = await serve((socket) => socket.write(FIXED), secureServer(foreign))
    await expect(other.get()).rejects.toThrow('certificate')
  })
})

describe('responses', () => {
  it.each([
    ['with a length', FIXED, 200, 'hello'],
    ['in chunks', CHUNKED, 200, 'hello good morning'],
    ['empty', 'HTTP/1.1 503 Busy\r\ncontent-length:0\r\n\r\n', 503, ''],
    ['without a reason', 'HTTP/1.1 404\r\ncontent-length: 2\r\n\r\n{}', 404, '{}'],
    ['without a body', 'HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n', 304, ''],
    ['after interim ones', `HTTP/1.1 103 Early\r\nLink: a\r\n\r\n${FIXED}`, 200, 'hello'],
  ])('A response %s is read whole and in pieces', async (_, text, status, body) => {
    const lengths = [text.length, 1, 20, text.length]
    const served = await serve((socket) => trickle(socket, text, lengths.shift() ?? 0))
    for (const _ of [...lengths]) expect(await served.get()).toMatchObject({ status, body })
    expect(served.sockets).toHaveLength(1)
  })

  it('Long responses that arrive in turns keep their own bytes', async () => {
    const bodies = ['a', 'b', 'c'].map((letter) => letter.repeat(900_000))
    const sent = [...bodies]
    const served = await serve(
      (socket) => {
        const body = sent.shift() ?? ''
        return trickle(socket, `${HEAD}content-length: ${body.length}\r\n\r\n${body}`, 50_000)
      },
      { size: 3 },
    )
    const responses = await Promise.all(bodies.map(() => served.get()))
    expect(`${responses.map(({ body }) => body).sort()}` === `${bodies}`).toBe(true)
  })

  it.each([
    ['"connection: close"', FIXED.replace('\r\n', '\r\nConnection: close\r\n')],
    ['HTTP/1.0', FIXED.replace('HTTP/1.1', 'HTTP/1.0')],
  ])('After a response with %s the next request opens a connection', async (_, last) => {
    const served = await serve((socket) => socket.write(last))
    await served.get()
    await served.get()
    expect(served.sockets).toHaveLength(2)
  })

  it('After a response before the end of its request the next opens a connection', async () => {
    const served = await serve((socket) => {
      socket.pause() // So that the rest of the request stays in the buffers.
      socket.write(FIXED)
    })
    const body = Buffer.alloc(64 * 1024 * 1024)
    await served.get(serializeRequest({ method: 'POST', path: '/', headers: {}, body }, 'a'))
    await served.get()
    expect(served.sockets).toHaveLength(2)
  })

  const BOTH = 'content-length: 5\r\ntransfer-encoding: chunked'
  const CHUNKED_HEAD = `${HEAD}transfer-encoding: chunked\r\n\r\n`
  it.each([
    ['closed early', FIXED.slice(0, -1), 'closed before the end'],
    ['closed before its head', '', 'closed before the end'],
    ['closed before its last chunk', CHUNKED.slice(0, -2), 'closed before the end'],
    ['without a length', `${HEAD}\r\nhello`, '(200) has neither a content-length nor chunks'],
    ['with a wrong length', `${HEAD}content-length: -5\r\n\r\nhello`, 'neither a content-length'],
    ['with a length and chunks', `${HEAD}${BOTH}\r\n\r\n${CHUNKS}`, 'two lengths'],
    ['with two lengths', FIXED.replace('\r\n', '\r\ncontent-length: 4\r\n'), 'two lengths'],
    ['with an impossible length', `${HEAD}content-length: ${'9'.repeat(15)}\r\n\r\n`, 'memory'],
    ['longer than its length', `${FIXED}!`, 'further bytes'],
    ['longer than its chunks', `${CHUNKED}!`, 'further bytes'],
    ['with a chunk without a size', `${CHUNKED_HEAD}hello\r\n`, 'no size'],
    ['with a chunk beyond its size', `${CHUNKED_HEAD}1\r\nhello\r\n`, 'longer than its size'],
    ['with a bare line feed', `${CHUNKED_HEAD}5\nhello\r\n`, 'no CRLF'],
    ['with an endless line', `${CHUNKED_HEAD}${'1'.repeat(9_000)}`, 'too long'],
    ['with an endless head', `HTTP/1.1 200 OK\r\na: ${'b'.repeat(70_000)}`, 'too long'],
    ['of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 'not HTTP/1.1'],
  ])(
    'A response %s is a failure, and the next request opens a connection',
    async (_, text, problem) => {
      let answer = text
      const served = await serve((socket) =>
        answer === FIXED ? socket.write(FIXED) : socket.end(answer),
      )
      await expect(served.get()).rejects.toThrow(problem)
      answer = FIXED
      expect(await served.get()).toMatchObject({ status: 200, body: 'hello' })
      expect(served.sockets).toHaveLength(2)
    },
  )
})

describe('connections', () => {
  it.each([
    ['ends', (socket: Socket) => socket.end()],
    ['gives up with a response', (socket: Socket) => socket.write(FIXED)],
    ['sends the begin of a response to', (socket: Socket) => socket.write(HEAD)],
  ])('A connection that the server %s while it is idle is replaced', async (_, giveUp) => {
    const served = await serve((socket) => socket.write(FIXED))
    await served.get()
    for (const socket of served.sockets) {
      const closed = once(socket, 'close')
      giveUp(socket)
      await closed
    }
    expect(await served.get()).toMatchObject({ status: 200 })
    expect(served.sockets).toHaveLength(2)
  })

  it('A connection that was idle for more than four seconds is replaced', async () => {
    let now = 0
    const served = await serve((socket) => socket.write(FIXED), { clock: () => now })
    await served.get()
    now += 4_000
    await served.get()
    expect(served.sockets).toHaveLength(1)
    now += 4_001
    await served.get()
    expect(served.sockets).toHaveLength(2)
    await expect.poll(() => served.sockets[0]?.destroyed).toBe(true)
  })

  it('Idle connections are closed without another request', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let now = 0
    const served = await serve((socket) => socket.write(FIXED), { size: 2, clock: () => now })
    await Promise.all([served.get(), served.get()])
    now += 5_000
    vi.advanceTimersByTime(5_000)
    vi.useRealTimers()
    await expect.poll(() => served.sockets.map(({ destroyed }) => destroyed)).toEqual([true, true])
  })

  it('An aborted request closes its connection, and leaves the others alone', async () => {
    const served = await serve(() => {}, { size: 2 })
    const [first, second, third] = [GET, GET, GET].map((request) => served.pool.send(request))
    await expect.poll(() => served.requests.length).toBe(2)
    third?.abort(new Error('enough'))
    await expect(third?.response).rejects.toThrow('enough')
    first?.abort(new Error('too late'))
    await expect(first?.response).rejects.toThrow('too late')
    await expect.poll(() => served.sockets.filter(({ destroyed }) => destroyed).length).toBe(1)
    served.sockets.find(({ destroyed }) => !destroyed)?.write(FIXED)
    expect(await second?.response).toMatchObject({ status: 200 })
  })

  it('An abort after the response does not affect the next request on the connection', async () => {
    const served = await serve((socket, request) => {
      if (!request.includes('silent')) socket.write(FIXED)
    })
    const answered = served.pool.send(GET)
    await answered.response
    const next = served.pool.send(['GET /silent HTTP/1.1\r\n\r\n'])
    await expect.poll(() => served.requests.length).toBe(2)
    answered.abort(new Error('too late'))
    served.sockets[0]?.write(FIXED)
    expect(await next.response).toMatchObject({ status: 200 })
    expect(served.sockets).toHaveLength(1)
  })

  it('A TLS handshake that does not end in time is a failure', async () => {
    const { ca } = await makeCertificate()
    const silent = createServer() // It accepts the connection, and never responds.
    const served = await serve(() => {}, { server: silent, ca, connectTimeoutMs: 50 })
    await expect(served.get()).rejects.toThrow('no connection in 50 ms')
  })

  it('The time to connect does not limit a response', async () => {
    const served = await serve((socket) => setTimeout(() => socket.write(FIXED), 200), {
      connectTimeoutMs: 50,
    })
    expect(await served.get()).toMatchObject({ status: 200 })
  })

  it('A refused connection is a failure', async () => {
    const server = createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const origin = `http://127.0.0.1:${port}`
    const pool = createHttpPool({ origin, size: 1, createSink: collectBytes })
    await expect(pool.send(GET).response).rejects.toThrow('ECONNREFUSED')
  })

  it('Closing the pool ends all requests, those that wait and later ones too', async () => {
    const { pool, requests } = await serve(() => {})
    const sent = [GET, GET].map((request) => pool.send(request).response)
    await expect.poll(() => requests.length).toBe(1)
    pool.close()
    const outcomes = await Promise.allSettled(sent)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(pool.send(GET).response).rejects.toThrow('pool of connections is closed')
    expect(requests).toHaveLength(1)
  })
})
