import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { type RunningWatch, watchInProcess } from '../../support/cli/watch-process.ts'
import { readOrder } from '../../support/orders/read-order.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'
import { type ChangeFeed, openChangeFeed } from '../../support/streams/change-feed.ts'

let backend: Backend
let feed: ChangeFeed
let services: Services
let watches: RunningWatch[]
beforeEach(async () => {
  backend = createBackend()
  feed = openChangeFeed(backend.env)
  services = await openServices(parseConfig(backend.env))
  watches = []
})
afterEach(async () => {
  await Promise.all(watches.map((watch) => watch.stop()))
  await services.close()
  await feed.close()
  await backend.remove()
})

function start(env: Record<string, string> = {}): RunningWatch {
  const watch = watchInProcess({ ...backend.env, ...env })
  watches.push(watch)
  return watch
}

async function startWriter(env: Record<string, string> = {}): Promise<RunningWatch> {
  const watch = start(env)
  await watch.becomesWriter()
  return watch
}

/** The amount of an order of `acc_1`; `undefined` when it does not exist. */
async function amount(id: string): Promise<number | undefined> {
  return (await readOrder(services.orders, id))?.amount_total
}

const SOON = { timeout: 60_000, interval: 50 }

const order = (n: number, version = 1) =>
  sourceOrder({ id: `ord_${n}`, version, amount_total: version })
const orders = (from: number, to: number, version = 1) =>
  Array.from({ length: to - from }, (_, n) => order(from + n, version))

describe('index watch', () => {
  it('index watch writes existing and new entries of the stream', async () => {
    await feed.add(...orders(0, 3))
    await startWriter()
    await feed.allProcessed()
    await feed.add(order(0, 2))
    await feed.allProcessed()
    expect([await amount('ord_0'), await amount('ord_2')]).toEqual([2, 1])
  })

  it('index watch acknowledges its writes, logs a summary and exits 0 on SIGTERM', async () => {
    const watch = await startWriter()
    await feed.add(...orders(0, 3), order(0))
    await feed.allProcessed()
    expect(await watch.stop()).toBe(0)
    expect(watch.log().at(-1)).toMatchObject({ written: 3, older: 1, unchanged: 0, refused: 0 })
  })

  it('index watch trims written entries', async () => {
    await startWriter()
    await feed.add(...orders(0, 100))
    await vi.waitFor(async () => expect(await feed.redis.xlen(feed.stream)).toBe(1), SOON)
  })

  it('the operations port of index watch reports metrics and readiness', async () => {
    const watch = await startWriter()
    await feed.add(...orders(0, 5), order(0), '{"half')
    await feed.allProcessed()
    expect(await watch.metric('indexing_is_writer')).toBe(1)
    const counts = { written: 5, older: 1, refused: 1, unchanged: 0 }
    for (const [outcome, count] of Object.entries(counts)) {
      const name = `indexing_changes_total{outcome="${outcome}"}`
      await expect.poll(() => watch.metric(name)).toBe(count)
    }
    await expect.poll(() => watch.metric('indexing_stream_backlog')).toBe(0)
    await expect.poll(() => watch.metric('indexing_lag_seconds_count'), SOON).toBe(5)
    await expect
      .poll(() => watch.operations('/health/ready'))
      .toBe('{"status":"ok","checks":{"orders":"ok","stamps":"ok","stream":"ok","alias":"ok"}}')
    expect(await watch.operations('/health/live')).toBe('{"status":"ok"}')
  })
})

describe('the operations port', () => {
  it('an operations port in use ends index watch with the name of the setting', async () => {
    const { msg } = await start().waitForLog('operations at')
    const { port } = new URL(msg.split(' ').at(-1) ?? '')
    const second = start({ OPERATIONS_PORT: port })
    expect(await second.ended()).toBe(1)
    expect(second.output()).toMatch(/cannot listen on .* Set HOST or OPERATIONS_PORT\n/)
  })
})

describe('an older version', () => {
  it('an older version changes nothing and is not a dead letter', async () => {
    await startWriter()
    await feed.add(order(1, 3), order(1, 2))
    await feed.allProcessed()
    expect([await amount('ord_1'), await feed.deadLetters()]).toEqual([3, []])
  })

  it('an older version does not restore an erased order, even after a restart', async () => {
    const erased = { id: 'ord_1', version: 3, owner_account_id: 'acc_1', deleted: true }
    const watch = await startWriter()
    await feed.add(order(1), erased)
    await feed.allProcessed()
    await watch.stop()
    await startWriter()
    await feed.add(order(1, 2))
    await feed.allProcessed()
    expect([await amount('ord_1'), await feed.deadLetters()]).toEqual([undefined, []])
  })
})

describe('a pending entry', () => {
  it('the next writer writes the pending entries of any consumer', async () => {
    await feed.add(...orders(0, 6))
    await feed.takeAs('dead-1', 2)
    await feed.takeAs('writer', 2)
    await startWriter()
    await feed.allProcessed()
    expect(await amount('ord_0')).toBe(1)
    expect(await amount('ord_3')).toBe(1)
  })

  it.each(['writer', 'another-consumer'])(
    'an entry read by a resumed former writer, %s, is written',
    async (consumer) => {
      await startWriter()
      await feed.add(order(1))
      await feed.allProcessed()
      // A blocked read receives the entry before any other consumer.
      await feed.redis
        .multi()
        .xadd(feed.stream, '*', 'order', JSON.stringify(order(2)))
        .xreadgroup('GROUP', 'indexer', consumer, 'COUNT', 1, 'STREAMS', feed.stream, '>')
        .exec()
      await feed.allProcessed()
      expect(await amount('ord_2')).toBe(1)
    },
  )

  it('a pending entry that was trimmed is reported as lost', async () => {
    await feed.add(...orders(0, 3))
    const [lost = ''] = await feed.takeAs('dead', 1)
    await feed.redis.xdel(feed.stream, lost)
    const watch = await startWriter()
    expect(await watch.waitForLog('removed from the stream')).toMatchObject({
      lost: 1,
      entry_ids: [lost],
    })
    await feed.allProcessed()
    expect([await amount('ord_0'), await amount('ord_1')]).toEqual([undefined, 1])
    expect(await watch.metric('indexing_changes_lost_total')).toBe(1)
  })
})

it('changes that were trimmed before their delivery are reported as lost', async () => {
  const first = await startWriter()
  await feed.add(order(0))
  await feed.allProcessed()
  await first.stop()
  await feed.add(...orders(1, 5))
  await feed.redis.xtrim(feed.stream, 'MAXLEN', 1)
  const second = await startWriter()
  expect(await second.waitForLog('load these orders again')).toMatchObject({ lost: 3 })
  await feed.allProcessed()
  expect([await amount('ord_3'), await amount('ord_4')]).toEqual([undefined, 1])
  expect(await second.metric('indexing_changes_lost_total')).toBe(3)
  await expect.poll(() => second.metric('indexing_stream_backlog')).toBe(0)
})

it('the watch recreates a removed group and loses no change', async () => {
  await startWriter()
  await feed.add(order(1))
  await feed.allProcessed()
  await feed.redis.xgroup('DESTROY', feed.stream, 'indexer')
  await feed.add(order(2))
  await vi.waitFor(async () => expect(await amount('ord_2')).toBe(1), SOON)
  await feed.allProcessed()
})
