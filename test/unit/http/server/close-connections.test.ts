import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, it } from 'vitest'
import closeConnections from '../../../../src/http/server/close-connections.ts'
import { openSocket } from '../../../support/http/raw-http.ts'

/** More than the socket buffers hold. */
const LARGE = Buffer.alloc(16 * 2 ** 20)

let app: FastifyInstance
let socket: Socket
let respond: () => void
beforeEach(async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  respond = resolve
  app = Fastify({ return503OnClosing: false })
  app.register(closeConnections)
  app.get('/', async () => {
    await promise
    return 'late'
  })
  app.post('/', async () => 'done')
  app.get('/large', async () => LARGE)
  await app.listen({ host: '127.0.0.1', port: 0 })
  socket = await openSocket((app.server.address() as AddressInfo).port)
  socket.on('error', () => {})
})
afterEach(() => app.server.closeAllConnections())

async function send(head: string): Promise<void> {
  const received = once(app.server, 'request')
  socket.write(`${head} HTTP/1.1\r\nHost: localhost\r\n`)
  socket.write('Content-Type: application/json\r\nContent-Length: 2\r\n\r\n')
  await received
}

it('the close ends the connection of a client that stalls within its body', async () => {
  await send('POST /')
  socket.write('{')
  await app.close()
})

it('the close ends a connection after its response, however late that is sent', async () => {
  await send('GET /')
  socket.write('{}')
  setTimeout(respond, 2_500) // After the check for idle connections.
  const [[received]] = await Promise.all([once(socket, 'data'), app.close()])
  expect(String(received)).toContain('late')
})

it('the close lets a client read a response to its end', async () => {
  await send('GET /large')
  socket.write('{}')
  await once(socket, 'readable')
  const closed = app.close()
  await sleep(1_000)
  let receivedBytes = 0
  socket.on('data', ({ length }) => {
    receivedBytes += length
  })
  await Promise.all([once(socket, 'close'), closed])
  expect(receivedBytes).toBeGreaterThan(LARGE.length)
})

it('the close ends the connection of a client that does not read its response', async () => {
  await send('GET /large')
  socket.write('{}')
  await once(socket, 'readable')
  await app.close()
})

it('the close accepts no connection while a client reads its response', async () => {
  await send('GET /large')
  socket.write('{}')
  await once(socket, 'readable')
  const { port } = app.server.address() as AddressInfo
  const closed = app.close()
  await sleep(100)
  await expect(openSocket(port)).rejects.toHaveProperty('code', 'ECONNREFUSED')
  socket.destroy()
  await closed
})
