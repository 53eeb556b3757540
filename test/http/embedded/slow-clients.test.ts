import { once } from 'node:events'
import type { Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { readResponses, sendRaw } from '../../support/http/raw-http.ts'
import { type SlowClients, serveSlowClients } from '../../support/http/slow-clients.ts'

const MANY = 300

let clients: SlowClients
afterEach(() => clients.close())

/** The status that a well-behaved client receives. */
const status = async () =>
  (await sendRaw(clients.port, clients.get('/v1/orders/ord_1'), 1))[0]?.status

const untilClosed = (socket: Socket) => finished(socket.resume()).catch(() => {})

describe('hundreds of slow senders', () => {
  it('hundreds of slow senders delay no other client with headers sent byte by byte, and are rejected at the header timeout', async () => {
    clients = await serveSlowClients({ headersMs: 2_000 })
    const slow = await clients.connectMany(MANY)
    const answers = slow.map((socket) => readResponses(socket))
    const bytes = clients.get('/v1/orders')
    let sent = 0
    const dripping = setInterval(() => {
      for (const socket of slow) if (socket.writable) socket.write(bytes[sent] ?? 'x')
      sent += 1
    }, 100)
    expect(await status()).toBe(200)
    const responses = (await Promise.all(answers)).flat()
    clearInterval(dripping)
    expect(responses.map((answer) => answer.status)).toEqual(Array(MANY).fill(400))
    expect(await status()).toBe(200)
  })

  it('hundreds of slow senders delay no other client when they send nothing, and are rejected at the header timeout', async () => {
    clients = await serveSlowClients({ headersMs: 2_000 })
    const silent = await clients.connectMany(MANY)
    expect(await status()).toBe(200)
    const responses = (await Promise.all(silent.map((socket) => readResponses(socket)))).flat()
    expect(responses.map((answer) => answer.status)).toEqual(Array(MANY).fill(400))
  })

  it('hundreds of slow senders are disconnected when their request body never ends', async () => {
    // Their requests are in flight, and more than the usual concurrency limit would shed other
    // requests.
    clients = await serveSlowClients(
      { headersMs: 1_000, requestMs: 2_000 },
      { MAX_CONCURRENT_REQUESTS: '1000' },
    )
    const slow = await clients.connectMany(MANY)
    const head = clients
      .get('/v1/orders')
      .replace('\r\n\r\n', '\r\nContent-Length: 1000000\r\n\r\n')
    for (const socket of slow) socket.write(head)
    expect(await status()).toBe(200)
    await Promise.all(slow.map(untilClosed))
  })
})

describe('connections over the limit', () => {
  it('connections over the limit evict the longest-idle connections, and every other client is accepted', async () => {
    clients = await serveSlowClients({ maxConnections: 100 })
    const idle = await clients.connectMany(MANY)
    await Promise.all(idle.slice(0, MANY - 100).map(untilClosed))
    expect(idle.slice(-90).every((socket) => socket.readyState === 'open')).toBe(true)
    expect(await clients.cutCount('too_many')).toBe(MANY - 100)
    expect(await status()).toBe(200)
  })

  it('connections over the limit evict no connection that was used since', async () => {
    clients = await serveSlowClients({ maxConnections: 10 })
    const [regular] = (await clients.connectMany(1)) as [Socket]
    for (let round = 0; round < 20; round++) {
      await clients.connectMany(5)
      regular.write(clients.get('/v1/orders/ord_1'))
      expect(String((await once(regular, 'data'))[0])).toContain('HTTP/1.1 200 OK')
    }
  })

  it('connections over the limit evict no connection that waits for its response', async () => {
    clients = await serveSlowClients({ maxConnections: 10 })
    const release = Promise.withResolvers<void>()
    const { get: find } = clients.app.services.orders
    clients.app.services.orders.get = async (...args) => {
      await release.promise
      return find(...args)
    }
    const [waiting] = (await clients.connectMany(1)) as [Socket]
    waiting.write(clients.get('/v1/orders/ord_1'))
    await once(clients.app.app.server, 'request')
    await clients.connectMany(50)
    release.resolve()
    expect((await readResponses(waiting, 1))[0]?.status).toBe(200)
  })
})
