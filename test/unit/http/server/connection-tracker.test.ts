import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type ConnectionTracker,
  connectionTrackerOf,
} from '../../../../src/http/server/connection-tracker.ts'
import { openSocket, readResponses } from '../../../support/http/raw-http.ts'

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

let server: ReturnType<typeof createServer>
let tracker: ConnectionTracker
let pending: ServerResponse[]
let port: number
beforeEach(async () => {
  server = createServer()
  tracker = connectionTrackerOf(server)
  pending = []
  server.on('request', (_request, response) => pending.push(response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

it('the tracker removes the responses of a detached socket after a reset', async () => {
  server.on('connect', (_request, socket) => socket.on('error', () => socket.destroy()))
  const socket = await openSocket(port)
  socket.write(`${GET.repeat(3)}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`)
  await expect.poll(() => tracker.inFlight.size).toBe(3)
  socket.resetAndDestroy()
  await expect.poll(() => tracker.inFlight.size).toBe(0)
})

async function send(requests = 1) {
  const socket = await openSocket(port)
  socket.write(GET.repeat(requests))
  const answers = readResponses(socket)
  await expect.poll(() => pending.length).toBeGreaterThanOrEqual(requests)
  return { socket, answers }
}

const respondToAll = () => {
  for (const response of pending.splice(0)) response.setHeader('Content-Length', 2).end('ok')
}

const closeHeaders = async (answers: ReturnType<typeof readResponses>) =>
  (await answers).map(({ headers }) => headers['connection'] === 'close')

it('connectionTrackerOf returns one tracker per server', () => {
  expect(connectionTrackerOf(server)).toBe(tracker)
})

it('the tracker separates idle connections from requests in flight', async () => {
  const { socket } = await send()
  expect([tracker.open.size, tracker.idle.size, tracker.inFlight.size]).toEqual([1, 0, 1])
  respondToAll()
  await expect.poll(() => tracker.idle.size).toBe(1)
  expect(tracker.inFlight.size).toBe(0)
  socket.destroy()
  await expect.poll(() => tracker.open.size).toBe(0)
  expect(tracker.idle.size).toBe(0)
})

it('the tracker counts accepted connections and requests', async () => {
  expect(tracker.acceptedCount()).toBe(0)
  await send(2)
  expect(tracker.acceptedCount()).toBe(3)
})

it('closeLongestIdle closes the longest-idle connection', async () => {
  const [first, second] = [await openSocket(port), await openSocket(port)]
  await expect.poll(() => tracker.idle.size).toBe(2)
  tracker.closeLongestIdle()
  await once(first.resume(), 'close')
  expect(tracker.open.size).toBe(1)
  second.destroy()
})

describe('closeAfterResponses', () => {
  it('a response in flight carries Connection: close', async () => {
    const { answers } = await send()
    tracker.closeAfterResponses()
    respondToAll()
    expect(await closeHeaders(answers)).toEqual([true])
  })

  it('the next response of an idle connection carries Connection: close', async () => {
    const { socket, answers } = await send()
    respondToAll()
    await expect.poll(() => tracker.idle.size).toBe(1)
    tracker.closeAfterResponses()
    socket.write(GET)
    await expect.poll(() => pending.length).toBe(1)
    respondToAll()
    expect(await closeHeaders(answers)).toEqual([false, true])
  })

  it.each([
    ['before', async () => {}],
    ['after', async () => tracker.closeAfterResponses()],
  ])('pipelined requests sent %s the call all receive their responses', async (when, before) => {
    await before()
    const { answers } = await send(3)
    if (when === 'before') tracker.closeAfterResponses()
    respondToAll()
    expect(await closeHeaders(answers)).toEqual([false, false, true])
  })
})
