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

/** Longer than any real wait of the drain; the test clock does not advance meanwhile. */
const GRACE_MS = 1_500
const isDrained = (drained: Promise<void>) =>
  Promise.race([drained.then(() => true), sleep(GRACE_MS).then(() => false)])

it('readiness follows the services until the drain starts, and then reports draining', async () => {
  expect((await shutdown.isReady()).status).toBe('ok')
  const drained = shutdown.drain()
  expect((await shutdown.isReady()).status).toBe('draining')
  clock.nowMs += 10_000
  await drained
})

it('the drain completes without requests, even with an open idle connection', async () => {
  await (await fetch(url())).text()
  await shutdown.drain()
})

it('the drain continues while requests arrive', async () => {
  keepSending()
  expect(await isDrained(shutdown.drain())).toBe(false)
})

it('the drain completes once clients stop sending requests', async () => {
  keepSending()
  const drained = shutdown.drain()
  await sleep(100)
  clearInterval(polling)
  await drained
})

it('the drain completes after 8 seconds, even while requests arrive', async () => {
  keepSending()
  const drained = shutdown.drain()
  clock.nowMs += 8_000
  await drained
})

it('the drain gives a load balancer 5 seconds to detect that the process is not ready', async () => {
  await shutdown.isReady()
  const drained = shutdown.drain()
  clock.nowMs += 4_999
  expect(await isDrained(drained)).toBe(false)
  clock.nowMs += 1
  await drained
})

it('the drain ignores a load balancer whose last readiness request is 30 seconds old', async () => {
  await shutdown.isReady()
  clock.nowMs += 30_000
  await shutdown.drain()
})
