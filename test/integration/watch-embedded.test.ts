import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { parseConfig } from '../../src/config.ts'
import { openServices, type Services } from '../../src/services.ts'
import { type Backend, createBackend } from '../support/backend.ts'
import { type ChangeFeed, openChangeFeed } from '../support/change-feed.ts'
import { sourceOrder } from '../support/source-order.ts'
import { FULL, synchronousOf } from '../support/synchronous.ts'
import { callWith, canTrace, readCalls, traced, writesBefore } from '../support/system-calls.ts'
import { startWatch, type WatchProcess } from '../support/watch-process.ts'

// The embedded store, with the stream in Redis.

let backend: Backend
let env: Record<string, string>
let feed: ChangeFeed
let services: Services
let watches: WatchProcess[]
beforeEach(async () => {
  backend = createBackend()
  const { DATA_DIR = '', REDIS_URL = '', REDIS_PREFIX = '' } = backend.env
  env = { DATA_DIR, REDIS_URL, REDIS_PREFIX }
  feed = openChangeFeed(env)
  services = await openServices(parseConfig(env))
  watches = []
})
afterEach(async () => {
  await Promise.all(watches.map((watch) => watch.stop('SIGKILL')))
  await services.close()
  await feed.close()
  await backend.remove()
})

function start(under: readonly string[] = []): WatchProcess {
  const watch = startWatch(env, 0, under)
  watches.push(watch)
  return watch
}

const SOON = { timeout: 60_000, interval: 50 }
const isDone = () => vi.waitFor(async () => expect(await feed.backlog()).toBe(0), SOON)
const isThere = async (id: string) => (await services.orders.get('acc_1', id)) !== null

it('writes the changes into the embedded store, and measures their lag', async () => {
  const watch = start()
  await feed.add(sourceOrder(), '{"half')
  await watch.becomesWriter()
  await isDone()
  expect(await isThere('ord_1')).toBe(true)
  expect(await feed.parked()).toHaveLength(1)
  await vi.waitFor(async () => {
    expect(await watch.metric('indexing_lag_seconds_count')).toBe(1)
  }, SOON)
})

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'lets one write at a time; the other takes over after a %s',
  async (signal) => {
    const first = start()
    await first.becomesWriter()
    const second = start()
    await second.standsBy()
    await feed.add(sourceOrder())
    await isDone()
    await first.stop(signal)
    await feed.add(sourceOrder({ id: 'ord_2' }))
    await second.becomesWriter()
    await isDone()
    expect([await isThere('ord_1'), await isThere('ord_2')]).toEqual([true, true])
  },
)

it('a standby that is told to stop ends, and exits 0', async () => {
  await start().becomesWriter()
  const second = start()
  await second.standsBy()
  expect(await second.stop('SIGTERM')).toBe(0)
})

it('acknowledges a change once its commit is on the disk', async () => {
  if (!canTrace()) {
    let close = async () => {}
    const synchronous = await synchronousOf(async () => {
      ;({ close } = await services.openIndex({ purpose: 'watch' }))
    })
    await close()
    expect(synchronous).toEqual({ 'orders.db': [FULL] })
    return
  }
  const file = join(backend.folder, 'calls')
  const watch = start(traced(file))
  await watch.becomesWriter()
  await feed.add(sourceOrder())
  await isDone()
  await watch.stop('SIGKILL') // Nothing is synced because it ends.
  const calls = readCalls(file)
  const acknowledged = callWith(calls, 'xack')
  expect(writesBefore(calls, acknowledged, 'orders.db-wal').lost).toBe(0)
  const id = callWith(calls, 'ord_1')
  expect([id.name, id.args]).toEqual(['pwrite64', expect.stringContaining('orders.db-wal')])
  expect(id.endedAt).toBeLessThan(acknowledged.beganAt)
})
