import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Connections, connectionsOf } from '../../../src/http/connections.ts'
import { openSocket, readAnswers } from '../../support/raw-http.ts'

const PATIENT = { timeout: 15_000 }
const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

let server: ReturnType<typeof createServer>
let connections: Connections
let waiting: ServerResponse[]
let port: number
beforeEach(async () => {
  server = createServer()
  connections = connectionsOf(server)
  waiting = []
  server.on('request', (_request, response) => waiting.push(response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

it('forget what was under way on one that Node let go of, and that is reset', async () => {
  server.on('connect', (_request, socket) => socket.on('error', () => socket.destroy()))
  const socket = await openSocket(port)
  socket.write(`${GET.repeat(3)}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`)
  await expect.poll(() => connections.underWay.size, PATIENT).toBe(3)
  socket.resetAndDestroy()
  await expect.poll(() => connections.underWay.size, PATIENT).toBe(0)
})

async function ask(requests = 1) {
  const socket = await openSocket(port)
  socket.write(GET.repeat(requests))
  const answers = readAnswers(socket)
  await expect.poll(() => waiting.length, PATIENT).toBeGreaterThanOrEqual(requests)
  return { socket, answers }
}

const answerAll = () => {
  for (const response of waiting.splice(0)) response.setHeader('Content-Length', 2).end('ok')
}

const closings = async (answers: ReturnType<typeof readAnswers>) =>
  (await answers).map(({ headers }) => headers['connection'] === 'close')

it('are the same ones for whoever asks', () => {
  expect(connectionsOf(server)).toBe(connections)
})

it('know which of them is idle, and which has a request under way', async () => {
  const { socket } = await ask()
  expect([connections.open.size, connections.idle.size, connections.underWay.size]).toEqual([
    1, 0, 1,
  ])
  answerAll()
  await expect.poll(() => connections.idle.size, PATIENT).toBe(1)
  expect(connections.underWay.size).toBe(0)
  socket.destroy()
  await expect.poll(() => connections.open.size, PATIENT).toBe(0)
  expect(connections.idle.size).toBe(0)
})

it('count what has come, connections and requests', async () => {
  expect(connections.comings()).toBe(0)
  await ask(2)
  expect(connections.comings()).toBe(3)
})

it('cut the one that has rested longest', async () => {
  const [first, second] = [await openSocket(port), await openSocket(port)]
  await expect.poll(() => connections.idle.size, PATIENT).toBe(2)
  connections.cutLongestIdle()
  await once(first.resume(), 'close')
  expect(connections.open.size).toBe(1)
  second.destroy()
})

describe('that are to close after their answers', () => {
  it('tell so on an answer that is under way', async () => {
    const { answers } = await ask()
    connections.closeAfterAnswers()
    answerAll()
    expect(await closings(answers)).toEqual([true])
  })

  it('tell so on the next answer of one that was idle', async () => {
    const { socket, answers } = await ask()
    answerAll()
    await expect.poll(() => connections.idle.size, PATIENT).toBe(1)
    connections.closeAfterAnswers()
    socket.write(GET)
    await expect.poll(() => waiting.length, PATIENT).toBe(1)
    answerAll()
    expect(await closings(answers)).toEqual([false, true])
  })

  it.each([
    ['before', async () => {}],
    ['after', async () => connections.closeAfterAnswers()],
  ])(
    'give every answer to requests sent one behind the other, which came %s that',
    async (when, before) => {
      await before()
      const { answers } = await ask(3)
      if (when === 'before') connections.closeAfterAnswers()
      answerAll()
      expect(await closings(answers)).toEqual([false, false, true])
    },
  )
})
