import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { connectionsOf } from '../../src/http/connections.ts'
import type { ServerLimits } from '../../src/http/server.ts'
import { openSocket, readAnswers, sendRaw } from '../support/raw-http.ts'
import { sourceOrder } from '../support/source-order.ts'
import { createTestApp, ROOMY, type TestApp } from '../support/test-app.ts'

const MANY = 300
const PATIENT = { timeout: 15_000 }
/** More than the kernel takes for a client that reads nothing. */
const LARGE_PAGE_BYTES = 8 * 2 ** 20

let app: TestApp
let port: number
let get: (path: string) => string
const opened: Socket[] = []
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy()
  await app.close()
})

async function serve(limits: Partial<ServerLimits>, env: Record<string, string> = {}) {
  // A page of megabytes takes its time on a busy machine.
  app = await createTestApp({ ...ROOMY, SEARCH_DEADLINE_MS: '60000', ...env }, limits)
  await app.load([sourceOrder()])
  const { key } = await app.issue()
  await app.app.listen({ port: 0 })
  port = (app.app.server.address() as AddressInfo).port
  get = (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`
}

/** Connections of clients who do with them as they like; whether they are open still is for the test to see. */
async function connectMany(count: number): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(port)))
  for (const socket of sockets) socket.on('error', () => {})
  opened.push(...sockets)
  return sockets
}

/** What somebody who does as everybody should is answered. */
const status = async () => (await sendRaw(port, get('/v1/orders/ord_1'), 1))[0]?.status

const ended = (socket: Socket) => finished(socket.resume()).catch(() => {})

const lastAnswer = ({ socket }: IncomingMessage) => connectionsOf(app.app.server).lastOf(socket)

const cutCount = async (reason: string) => {
  const { values } = await app.metrics.cutConnections.get()
  return values.find(({ labels }) => labels.reason === reason)?.value
}

async function loadLargePage(bytes = LARGE_PAGE_BYTES) {
  const tracking = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, n) => [`key_${n}`, 'x'.repeat(1_000)]),
  )
  const orders = Array.from({ length: bytes / 1_000_000 }, (_, n) =>
    sourceOrder({ id: `ord_large_${n}`, tracking }),
  )
  await app.load(orders)
}

describe('hundreds of slow senders', () => {
  it('hold up nobody while they send their headers byte by byte, and are refused in the end', async () => {
    await serve({ headersMs: 2_000 })
    const slow = await connectMany(MANY)
    const answers = slow.map((socket) => readAnswers(socket))
    const bytes = get('/v1/orders')
    let sent = 0
    const dripping = setInterval(() => {
      for (const socket of slow) if (socket.writable) socket.write(bytes[sent] ?? 'x')
      sent += 1
    }, 100)
    expect(await status()).toBe(200)
    const refusals = (await Promise.all(answers)).flat()
    clearInterval(dripping)
    expect(refusals.map((answer) => answer.status)).toEqual(Array(MANY).fill(400))
    expect(await status()).toBe(200)
  })

  it('hold up nobody while they send nothing at all, and are refused in the end', async () => {
    await serve({ headersMs: 2_000 })
    const silent = await connectMany(MANY)
    expect(await status()).toBe(200)
    const refusals = (await Promise.all(silent.map((socket) => readAnswers(socket)))).flat()
    expect(refusals.map((answer) => answer.status)).toEqual(Array(MANY).fill(400))
  })

  it('are cut when what they send after the headers never comes to its end', async () => {
    // Their requests have begun, and more than there are places for usually would cost others theirs.
    await serve({ headersMs: 1_000, requestMs: 2_000 }, { MAX_CONCURRENT_REQUESTS: '1000' })
    const slow = await connectMany(MANY)
    const head = get('/v1/orders').replace('\r\n\r\n', '\r\nContent-Length: 1000000\r\n\r\n')
    for (const socket of slow) socket.write(head)
    expect(await status()).toBe(200)
    await Promise.all(slow.map(ended))
  })
})

describe('more connections than there may be', () => {
  it('cost those that have rested longest, and let everybody else in', async () => {
    await serve({ maxConnections: 100 })
    const idle = await connectMany(MANY)
    await Promise.all(idle.slice(0, MANY - 100).map(ended))
    expect(idle.slice(-90).every((socket) => socket.readyState === 'open')).toBe(true)
    expect(await cutCount('too_many')).toBe(MANY - 100)
    expect(await status()).toBe(200)
  })

  it('cost none that has been of use since', async () => {
    await serve({ maxConnections: 10 })
    const [regular] = (await connectMany(1)) as [Socket]
    for (let round = 0; round < 20; round++) {
      await connectMany(5)
      regular.write(get('/v1/orders/ord_1'))
      expect(String((await once(regular, 'data'))[0])).toContain('HTTP/1.1 200 OK')
    }
  })

  it('cost none that waits for its answer', async () => {
    await serve({ maxConnections: 10 })
    const release = Promise.withResolvers<void>()
    const { get: find } = app.services.orders
    app.services.orders.get = async (...args) => {
      await release.promise
      return find(...args)
    }
    const [waiting] = (await connectMany(1)) as [Socket]
    waiting.write(get('/v1/orders/ord_1'))
    await once(app.app.server, 'request')
    await connectMany(50)
    release.resolve()
    expect((await readAnswers(waiting, 1))[0]?.status).toBe(200)
  })
})

describe('those who ask and do not read', () => {
  it('hold no place: hundreds of them leave room for everybody else', async () => {
    await serve({}, { MAX_CONCURRENT_REQUESTS: '4' })
    for (const socket of await connectMany(MANY)) {
      socket.pause()
      socket.write(get('/v1/orders'))
    }
    await expect.poll(status, PATIENT).toBe(200)
  })

  it('hold no place with an answer that they do not take', async () => {
    await serve({}, { MAX_CONCURRENT_REQUESTS: '4' })
    await loadLargePage()
    for (const socket of await connectMany(12)) {
      socket.pause()
      socket.write(get('/v1/orders'))
    }
    await expect.poll(status, PATIENT).toBe(200)
    expect(await status()).toBe(200)
  })

  it('lose their connection when an answer is not taken in time, also one who reads byte by byte', async () => {
    await serve({ answerMs: 1_000, lookMs: 100 })
    await loadLargePage()
    const slow = await connectMany(8)
    const reading = setInterval(() => {
      for (const socket of slow) socket.read(1)
    }, 50)
    for (const socket of slow) {
      socket.pause()
      socket.write(get('/v1/orders'))
    }
    await expect.poll(() => cutCount('answer_not_taken'), PATIENT).toBe(8)
    clearInterval(reading)
    expect(await status()).toBe(200)
  })

  it('lose the oldest answers when they keep more memory than there is for them', async () => {
    // More than one of them, less than two, whatever the kernel takes.
    await serve({ maxUnreadBytes: 2 * LARGE_PAGE_BYTES, lookMs: 100 })
    await loadLargePage(2 * LARGE_PAGE_BYTES)
    const slow = await connectMany(4)
    for (const socket of slow) {
      socket.pause()
      socket.write(get('/v1/orders'))
      const [request] = await once(app.app.server, 'request')
      await expect.poll(() => lastAnswer(request)?.writableEnded, PATIENT).toBe(true)
    }
    await Promise.all(slow.slice(0, 3).map(ended))
    expect(await cutCount('memory')).toBe(3)
    expect(await cutCount('answer_not_taken')).toBe(0)
    expect(slow[3]?.readyState).toBe('open')
    expect(await status()).toBe(200)
  })

  it('do not hold the service when it closes', async () => {
    await serve({})
    await loadLargePage()
    const closing = Promise.withResolvers<void>()
    const { slice } = app.services.orders
    app.services.orders.slice = async (...args) => {
      await closing.promise
      return slice(...args)
    }
    const [slow] = (await connectMany(1)) as [Socket]
    slow.pause()
    slow.write(get('/v1/orders'))
    await once(app.app.server, 'request')
    const closed = app.app.close()
    await expect.poll(() => app.app.server.listening, PATIENT).toBe(false)
    closing.resolve()
    await closed
  })

  it('get the whole of a large answer as long as they read', async () => {
    await serve({ answerMs: 20_000, lookMs: 100 })
    await loadLargePage()
    const [answer] = await sendRaw(port, get('/v1/orders'), 1)
    expect(answer?.status).toBe(200)
    expect(JSON.parse(answer?.body ?? '').data).toHaveLength(9)
    expect(await cutCount('memory')).toBe(0)
  })
})
