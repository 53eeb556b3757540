import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { runCommand, startCommand } from '../../support/cli/command.ts'
import {
  callWith,
  canTrace,
  readCalls,
  traced,
  writesBefore,
} from '../../support/cli/system-calls.ts'
import { startWatch, type WatchProcess } from '../../support/cli/watch-process.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'
import { FULL, synchronousOf } from '../../support/stores/synchronous.ts'
import { type ChangeFeed, openChangeFeed } from '../../support/streams/change-feed.ts'

// The embedded store with the change stream in Redis.

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
const isThere = async (id: string) => (await services.orders.get('acc_1', id)) !== null

it('the watch writes changes to the embedded store and measures their lag', async () => {
  const watch = start()
  await feed.add(sourceOrder(), '{"half')
  await watch.becomesWriter()
  await feed.allProcessed()
  expect(await isThere('ord_1')).toBe(true)
  expect(await feed.deadLetters()).toHaveLength(1)
  await vi.waitFor(async () => {
    expect(await watch.metric('indexing_lag_seconds_count')).toBe(1)
  }, SOON)
})

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'one watch writes to the embedded store; the other takes over after a %s',
  async (signal) => {
    const first = start()
    await first.becomesWriter()
    const second = start()
    await second.standsBy()
    await feed.add(sourceOrder())
    await feed.allProcessed()
    await first.stop(signal)
    await feed.add(sourceOrder({ id: 'ord_2' }))
    await second.becomesWriter()
    await feed.allProcessed()
    expect([await isThere('ord_1'), await isThere('ord_2')]).toEqual([true, true])
  },
)

it('a standby exits 0 on SIGTERM', async () => {
  await start().becomesWriter()
  const second = start()
  await second.standsBy()
  expect(await second.stop('SIGTERM')).toBe(0)
})

it('the watch acknowledges a change after its commit is on disk', async () => {
  if (!canTrace()) {
    let close = async () => {}
    const synchronous = await synchronousOf(async () => {
      ;({ close } = await services.openIndex({ purpose: 'watch' }))
    })
    await close()
    expect(synchronous).toMatchObject({ 'orders.db': [FULL] })
    return
  }
  const file = join(backend.folder, 'calls')
  const watch = start(traced(file))
  await watch.becomesWriter()
  await feed.add(sourceOrder())
  await feed.allProcessed()
  await watch.stop('SIGKILL') // A kill syncs nothing.
  const calls = readCalls(file)
  const acknowledged = callWith(calls, 'xack')
  expect(writesBefore(calls, acknowledged, 'orders.db-wal').lost).toBe(0)
  const id = callWith(calls, 'ord_1')
  expect([id.name, id.args]).toEqual(['pwrite64', expect.stringContaining('orders.db-wal')])
  expect(id.endedAt).toBeLessThan(acknowledged.beganAt)
})

const load = () =>
  runCommand(['index', 'load', '-'], env, JSON.stringify(sourceOrder({ id: 'ord_2' })))

describe('a load beside a watch', () => {
  it('a load during a watch is rejected with the next step and works after the watch is killed', async () => {
    const watch = start()
    await watch.becomesWriter()
    const { code, stderr } = await load()
    expect(code).toBe(1)
    expect(stderr).toContain(
      'append the lines to its stream with "index load --stream", or stop it first',
    )
    expect(await isThere('ord_2')).toBe(false)
    await watch.stop('SIGKILL')
    expect((await load()).code).toBe(0)
  })
})

describe('a writer beside a load', () => {
  /** A load that wrote a bulk and waits for its next line. */
  async function startLoad() {
    const child = startCommand(['index', 'load', '-'], env)
    const lines = Array.from({ length: 1_100 }, (_, n) => sourceOrder({ id: `ord_l${n}` }))
    child.stdin.write(lines.map((order) => `${JSON.stringify(order)}\n`).join(''))
    await vi.waitFor(async () => expect(await isThere('ord_l1')).toBe(true), SOON)
    return child
  }

  it.each<[string, (child: Awaited<ReturnType<typeof startLoad>>) => void]>([
    ['ends', (child) => child.stdin.end()],
    ['is killed', (child) => child.kill('SIGKILL')],
  ])('a watch stands by until that %s', async (_how, end) => {
    const child = await startLoad()
    const watch = start()
    await watch.standsBy()
    await feed.add(sourceOrder())
    end(child)
    await watch.becomesWriter()
    await feed.allProcessed()
    expect(await isThere('ord_1')).toBe(true)
  })

  it('a second load waits for the first and reports the wait', async () => {
    const child = await startLoad()
    const second = startCommand(['index', 'load', '-'], env)
    let stderr = ''
    second.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    const closed = once(second, 'close')
    second.stdin.end(JSON.stringify(sourceOrder({ id: 'ord_2' })))
    await vi.waitFor(
      () =>
        expect(stderr).toContain('waiting for another "index load", or "serve" for pushed orders'),
      SOON,
    )
    expect(await isThere('ord_2')).toBe(false)
    child.stdin.end()
    await closed
    expect([second.exitCode, await isThere('ord_2')]).toEqual([0, true])
  })
})
