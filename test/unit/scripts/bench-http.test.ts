import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { createHttpPool } from '../../../scripts/bench/measuring/http-pool.ts'
import { makeCertificate } from '../../harness/services/certificate.ts'

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n'
const FIXED = `${HEAD}Content-Length: 5\r\n\r\nhello`
const CHUNKS = '5\r\nhello\r\nb;ext=1\r\nhello world\r\n0\r\nTrailer: x\r\n\r\n'
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n${CHUNKS}`
const request = { method: 'GET', path: '/orders', headers: { authorization: 'Bearer a' } } as const

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Calls `respond` for each read of a request. */
async function serve(
  respond: (socket: Socket) => unknown,
  { size = 1, server = createServer(), ca }: { size?: number; server?: Server; ca?: string } = {},
) {
  const requests: string[] = []
  let connections = 0
  server.on(ca === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    connections += 1
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      requests.push(`${bytes}`)
      respond(socket)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const host = ca === undefined ? `127.0.0.1:${port}` : `localhost:${port}`
  const pool = createHttpPool(`${ca === undefined ? 'http' : 'https'}://${host}`, size, ca)
  closing.push(pool.close, () => server.close())
  return { pool, host, requests, connections: () => connections }
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
    const body = Buffer.from('{"size":21}')
    await served.pool.send(request)
    await served.pool.send({ ...request, method: 'POST', body })
    await served.pool.send({ ...request, method: 'POST' })
    const fields = `/orders HTTP/1.1\r\nhost: ${served.host}\r\nauthorization: Bearer a\r\n`
    expect(served.requests).toEqual([
      `GET ${fields}\r\n`,
      `POST ${fields}content-length: 11\r\n\r\n{"size":21}`,
      `POST ${fields}content-length: 0\r\n\r\n`,
    ])
    expect(served.connections()).toBe(1)
  })

  it('Requests beyond the size of the pool wait for a free connection', async () => {
    const waiting: Socket[] = []
    const served = await serve((socket) => waiting.push(socket), { size: 2 })
    const sent = Promise.all(Array.from({ length: 6 }, () => served.pool.send(request)))
    for (let answered = 0; answered < 6; answered += 2) {
      await expect.poll(() => waiting.length).toBe(2)
      for (const socket of waiting.splice(0)) socket.write(FIXED)
    }
    expect(await sent).toHaveLength(6)
    expect(served.connections()).toBe(2)
  })

  it('A server with TLS is verified with the given authority', async () => {
    const certificate = await makeCertificate()
    const { pool } = await serve((socket) => socket.write(CHUNKED), secureServer(certificate))
    expect(await pool.send(request)).toMatchObject({ status: 200, bytes: 16 })
    const foreign = { ...certificate, ca: (await makeCertificate()).ca }
    const other = await serve((socket) => socket.write(FIXED), secureServer(foreign))
    await expect(other.pool.send(request)).rejects.toThrow('certificate')
  })
})

describe('responses', () => {
  it.each([
    ['with a length', FIXED, { status: 200, bytes: 5 }],
    ['in chunks', CHUNKED, { status: 200, bytes: 16 }],
    ['empty', 'HTTP/1.1 503 Busy\r\ncontent-length:0\r\n\r\n', { status: 503, bytes: 0 }],
    ['without a body', 'HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n', { status: 304, bytes: 0 }],
  ])('A response %s is read whole and in pieces', async (_, text, expected) => {
    const lengths = [text.length, 1, 20, text.length]
    const served = await serve((socket) => trickle(socket, text, lengths.shift() ?? 0))
    for (const _ of [...lengths]) {
      expect(await served.pool.send(request)).toMatchObject(expected)
    }
    expect(served.connections()).toBe(1)
  })

  it('A long response in many reads is counted to its end', async () => {
    const body = Buffer.alloc(3_000_000)
    const head = `${HEAD}content-length: ${body.length}\r\n\r\n`
    const served = await serve((socket) => socket.write(Buffer.concat([Buffer.from(head), body])))
    expect(await served.pool.send(request)).toMatchObject({ bytes: body.length })
  })

  it('After a response with "connection: close" the next request opens a connection', async () => {
    const last = FIXED.replace('\r\n', '\r\nConnection: close\r\n')
    const served = await serve((socket) => socket.write(last))
    await served.pool.send(request)
    await served.pool.send(request)
    expect(served.connections()).toBe(2)
  })

  it.each([
    ['closed early', FIXED.slice(0, -1), 'connection closed'],
    ['closed before its head', '', 'connection closed'],
    ['without a length', `${HEAD}\r\nhello`, 'neither content-length nor chunks'],
    ['longer than its length', `${FIXED}!`, 'further bytes'],
    ['longer than its chunks', `${CHUNKED}!`, 'further bytes'],
  ])(
    'A response %s is a failure, and the next request opens a connection',
    async (_, text, problem) => {
      let answer = text
      const served = await serve((socket) =>
        answer === FIXED ? socket.write(FIXED) : socket.end(answer),
      )
      await expect(served.pool.send(request)).rejects.toThrow(problem)
      answer = FIXED
      expect(await served.pool.send(request)).toMatchObject({ status: 200, bytes: 5 })
      expect(served.connections()).toBe(2)
    },
  )

  it.each([
    ['ends', (socket: Socket) => socket.end()],
    ['gives up with a response', (socket: Socket) => socket.write(FIXED)],
  ])('A connection that the server %s while it is idle is replaced', async (_, giveUp) => {
    const sockets: Socket[] = []
    const served = await serve((socket) => {
      sockets.push(socket)
      socket.write(FIXED)
    })
    await served.pool.send(request)
    for (const socket of sockets) {
      const closed = once(socket, 'close')
      giveUp(socket)
      await closed
    }
    expect(await served.pool.send(request)).toMatchObject({ status: 200 })
    expect(served.connections()).toBe(2)
  })

  it('A refused connection and a closed pool are failures', async () => {
    const server = createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const pool = createHttpPool(`http://127.0.0.1:${port}`, 1)
    await expect(pool.send(request)).rejects.toThrow('ECONNREFUSED')
    const silent = await serve(() => {})
    const sent = silent.pool.send(request)
    silent.pool.close()
    await expect(sent).rejects.toThrow('connection closed')
  })
})
