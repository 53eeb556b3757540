import { once } from 'node:events'
import type { Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { connectionTrackerOf } from '../../../src/http/server/connection-tracker.ts'
import { readResponses, sendRaw } from '../../support/http/raw-http.ts'
import {
  LARGE_PAGE_BYTES,
  type SlowClients,
  serveSlowClients,
} from '../../support/http/slow-clients.ts'

const MANY = 300

let clients: SlowClients
afterEach(() => clients.close())

/** The status that a client receives when it reads its response. */
const status = async () =>
  (await sendRaw(clients.port, clients.get('/v1/orders/ord_1'), 1))[0]?.status

/** A file that needs no key. Together, so many responses exceed the socket buffers. */
const DOCS_FILE = '/openapi.json'
const MANY_FILES = 60

const untilClosed = (socket: Socket) => finished(socket.resume()).catch(() => {})

describe('clients that do not read their responses', () => {
  it('clients that do not read their responses occupy no concurrency slot: hundreds of them leave the service available', async () => {
    clients = await serveSlowClients({}, { MAX_CONCURRENT_REQUESTS: '4' })
    for (const socket of await clients.connectMany(MANY)) {
      socket.pause()
      socket.write(clients.get('/v1/orders'))
    }
    await expect.poll(status).toBe(200)
  })

  it('clients that do not read their responses occupy no concurrency slot with a response that they do not read', async () => {
    clients = await serveSlowClients({}, { MAX_CONCURRENT_REQUESTS: '4' })
    await clients.loadLargePage()
    for (const socket of await clients.connectMany(12)) {
      socket.pause()
      socket.write(clients.get('/v1/orders'))
    }
    await expect.poll(status).toBe(200)
    expect(await status()).toBe(200)
  })

  it('clients that do not read their responses are disconnected when a response makes no progress for too long, or is read byte by byte', async () => {
    clients = await serveSlowClients({ stallMs: 1_000, checkIntervalMs: 100 })
    await clients.loadLargePage()
    const slow = await clients.connectMany(8)
    const reading = setInterval(() => {
      for (const socket of slow) socket.read(1)
    }, 50)
    for (const socket of slow) {
      socket.pause()
      socket.write(clients.get('/v1/orders'))
    }
    await expect.poll(() => clients.cutCount('answer_not_taken')).toBe(8)
    clearInterval(reading)
    expect(await status()).toBe(200)
  })

  it('clients that do not read their responses lose the oldest of equally large responses when one account exceeds the memory limit', async () => {
    // More than one of them and less than two, even where a pair of socket buffers holds 12 MB.
    clients = await serveSlowClients({ maxUnreadBytes: 5 * LARGE_PAGE_BYTES, checkIntervalMs: 100 })
    await clients.loadLargePage(4 * LARGE_PAGE_BYTES)
    const slow = await clients.connectMany(4)
    for (const socket of slow) {
      socket.pause()
      socket.write(clients.get('/v1/orders?limit=100'))
      const [request] = await once(clients.app.app.server, 'request')
      await expect.poll(() => clients.lastAnswer(request)?.writableEnded).toBe(true)
      expect(clients.lastAnswer(request)?.statusCode).toBe(200)
    }
    await expect.poll(() => clients.cutCount('memory')).toBe(3)
    await Promise.all(slow.slice(0, 3).map(untilClosed))
    expect(await clients.cutCount('answer_not_taken')).toBe(0)
    expect(slow[3]?.readyState).toBe('open')
    expect(await status()).toBe(200)
  })

  it('clients that do not read their responses do not delay the shutdown', async () => {
    clients = await serveSlowClients({})
    await clients.loadLargePage()
    const closing = Promise.withResolvers<void>()
    const { findPage } = clients.app.services.orders
    clients.app.services.orders.findPage = async (...args) => {
      await closing.promise
      return findPage(...args)
    }
    const [slow] = (await clients.connectMany(1)) as [Socket]
    slow.pause()
    slow.write(clients.get('/v1/orders'))
    await once(clients.app.app.server, 'request')
    const closed = clients.app.app.close()
    await expect.poll(() => clients.app.app.server.listening).toBe(false)
    closing.resolve()
    await closed
  })
})

/**
 * Reads a large page piece by piece, slowly until `isFast`; ends with the orders of the page, or
 * when the connection is closed.
 */
async function readSlowly(socket: Socket, isFast: () => boolean): Promise<number> {
  const pieces: Buffer[] = []
  socket.pause()
  socket.write(clients.get('/v1/orders').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
  while (!socket.destroyed && !socket.readableEnded) {
    const piece: Buffer | null = socket.read()
    if (piece !== null) pieces.push(piece)
    await sleep(isFast() ? 0 : 50)
  }
  const [, body = ''] = Buffer.concat(pieces).toString().split('\r\n\r\n')
  return body.endsWith('}') ? JSON.parse(body).data.length : 0
}

describe('an account that reads a large page slowly', () => {
  it('receives the whole page, however long it takes, while it reads', async () => {
    clients = await serveSlowClients({ stallMs: 5_000, checkIntervalMs: 100 })
    await clients.loadLargePage(2 * LARGE_PAGE_BYTES)
    const [reader] = (await clients.connectMany(1)) as [Socket]
    const fastFromMs = performance.now() + 8_000 // Longer than the read timeout.
    expect(await readSlowly(reader, () => performance.now() > fastFromMs)).toBe(17)
    expect(await clients.cutCount('answer_not_taken')).toBe(0)
  })

  it('receives the whole page despite 25 connections that request the docs and do not read', async () => {
    const readers = 5
    // The pages leave so little of the memory limit that the flood exceeds it. The flood is
    // younger, so eviction by age alone would end the pages.
    const room = 2 ** 20 / 2
    clients = await serveSlowClients({
      maxUnreadBytes: readers * 9_000_000 + room,
      checkIntervalMs: 100,
    })
    await clients.loadLargePage()
    let isOver = false
    const reading = (await clients.connectMany(readers)).map((socket) =>
      readSlowly(socket, () => isOver),
    )
    const unreadConnections = await clients.connectMany(25)
    for (const socket of unreadConnections) {
      socket.pause()
      socket.write(clients.get(DOCS_FILE).repeat(MANY_FILES))
    }
    const cut = () => clients.cutCount('memory')
    await expect.poll(cut).toBeGreaterThan(10)
    isOver = true
    expect(await Promise.all(reading)).toEqual(Array(readers).fill(9))
    expect(await clients.cutCount('answer_not_taken')).toBe(0)
  })
})

describe('a full connection table with only unread responses', () => {
  const LIMIT = 64

  /** The number of connections with a response that waits for its client. */
  function unreadCount() {
    const { inFlight } = connectionTrackerOf(clients.app.app.server)
    const unread = [...inFlight].filter(
      ({ headersSent, writableLength }) => headersSent && writableLength > 0,
    )
    return new Set(unread.map(({ req }) => req.socket)).size
  }

  async function openUnread(requests: string[]): Promise<Socket[]> {
    const sockets = await clients.connectMany(requests.length)
    for (const [n, socket] of sockets.entries()) {
      socket.pause()
      socket.write(requests[n] ?? '')
    }
    await expect.poll(unreadCount).toBe(requests.length)
    return sockets
  }

  it('admits requests with a key by closing readers of the docs, not the account that reads a page', async () => {
    clients = await serveSlowClients({
      maxConnections: LIMIT,
      maxUnreadBytes: Number.MAX_SAFE_INTEGER,
    })
    await clients.loadLargePage()
    const page = clients.get('/v1/orders')
    const docs = clients.get(DOCS_FILE).repeat(MANY_FILES)
    const [account] = await openUnread([page, ...Array(LIMIT - 1).fill(docs)])
    const newcomers = await clients.connectMany(3)
    const answers = newcomers.map((socket) => {
      socket.write(clients.get('/v1/orders/ord_1'))
      return readResponses(socket, 1)
    })
    const statuses = (await Promise.all(answers)).map(([answer]) => answer?.status)
    expect(statuses).toEqual([200, 200, 200])
    expect(await clients.cutCount('too_many')).toBe(3)
    expect(account?.readyState).toBe('open')
  })

  it('admits requests also where one account owns all connections', async () => {
    clients = await serveSlowClients({
      maxConnections: 16,
      maxUnreadBytes: Number.MAX_SAFE_INTEGER,
    })
    await clients.loadLargePage()
    await openUnread(Array(16).fill(clients.get('/v1/orders')))
    expect(await status()).toBe(200)
  })

  it('rejects the new connection while every response is still in preparation', async () => {
    clients = await serveSlowClients({ maxConnections: 4 })
    const release = Promise.withResolvers<void>()
    const { get: find } = clients.app.services.orders
    clients.app.services.orders.get = async (...args) => {
      await release.promise
      return find(...args)
    }
    const waiting = await clients.connectMany(4)
    const answers = waiting.map((socket) => {
      socket.write(clients.get('/v1/orders/ord_1'))
      return readResponses(socket, 1)
    })
    const { idle } = connectionTrackerOf(clients.app.app.server)
    await expect.poll(() => idle.size).toBe(0)
    const [newcomer] = (await clients.connectMany(1)) as [Socket]
    await untilClosed(newcomer)
    release.resolve()
    const statuses = (await Promise.all(answers)).map(([answer]) => answer?.status)
    expect(statuses).toEqual([200, 200, 200, 200])
  })
})
