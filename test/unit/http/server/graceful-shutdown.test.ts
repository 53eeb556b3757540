import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  createGracefulShutdown,
  type GracefulShutdown,
} from '../../../../src/http/server/graceful-shutdown.ts'

let server: ReturnType<typeof createServer>
let clock: { nowMs: number }
let shutdown: GracefulShutdown
let polling: NodeJS.Timeout | undefined
beforeEach(async () => {
  server = createServer((_request, response) => response.end())
  clock = { nowMs: 0 }
  const isReady = async () => ({ status: 'ok' as const, checks: {} })
  shutdown = createGracefulShutdown(server, isReady, () => clock.nowMs)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  clearInterval(polling)
  server.closeAllConnections()
  server.close()
})

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

function keepSending() {
  polling = setInterval(() => fetch(url()).catch(() => {}), 10)
}

/** Longer than it waits for anybody; the clock of the test stands still meanwhile. */
const GRACE_MS = 1_500
const isDrained = (left: Promise<void>) =>
  Promise.race([left.then(() => true), sleep(GRACE_MS).then(() => false)])

it('is as ready as its services until it leaves, and then at once no more', async () => {
  expect((await shutdown.isReady()).status).toBe('ok')
  const left = shutdown.drain()
  expect((await shutdown.isReady()).status).toBe('draining')
  clock.nowMs += 10_000
  await left
})

it('leaves when nobody asks, although a client keeps its connection', async () => {
  await (await fetch(url())).text()
  await shutdown.drain()
})

it('goes on while somebody asks', async () => {
  keepSending()
  expect(await isDrained(shutdown.drain())).toBe(false)
})

it('leaves once those who asked have gone elsewhere', async () => {
  keepSending()
  const left = shutdown.drain()
  await sleep(100)
  clearInterval(polling)
  await left
})

it('leaves after 8 seconds, whoever asks', async () => {
  keepSending()
  const left = shutdown.drain()
  clock.nowMs += 8_000
  await left
})

it('gives a balancer 5 seconds to hear that it is not ready', async () => {
  await shutdown.isReady()
  const left = shutdown.drain()
  clock.nowMs += 4_999
  expect(await isDrained(left)).toBe(false)
  clock.nowMs += 1
  await left
})

it('waits for no balancer that last asked half a minute ago', async () => {
  await shutdown.isReady()
  clock.nowMs += 30_000
  await shutdown.drain()
})
