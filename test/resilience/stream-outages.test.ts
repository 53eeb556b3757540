import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseConfig } from '../../src/config/config.ts'
import { openServices, type Services } from '../../src/services.ts'
import { openRedisStream } from '../../src/stores/redis/stream.ts'
import { type RunningRedis, startRedis } from '../harness/services/redis.ts'
import {
  expectOutagesLoggedOnce,
  startWatch,
  type WatchProcess,
} from '../support/cli/watch-process.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { createTestFolder } from '../support/stores/test-folder.ts'
import { type ChangeFeed, openChangeFeed } from '../support/streams/change-feed.ts'
import { drain } from '../support/streams/drain.ts'
import { send } from './limiter-process.ts'

// The Redis of the stream persists writes, as docker/stores.md requires. The store is embedded.
const KEEPS_ALL = ['--appendonly', 'yes', '--appendfsync', 'always']

let folder: string
let closers: (() => unknown)[]
beforeEach(() => {
  folder = createTestFolder()
  closers = []
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function start(streamUrl: string, more: Record<string, string> = {}): WatchProcess {
  const watch = startWatch({ DATA_DIR: folder, STREAM_REDIS_URL: streamUrl, ...more })
  closers.push(() => watch.stop('SIGKILL'))
  return watch
}

async function openEmbedded(): Promise<Services> {
  const services = await openServices(parseConfig({ DATA_DIR: folder }))
  closers.push(() => services.close())
  return services
}

const SOON = { timeout: 60_000, interval: 50 }
const order = (id: string) => sourceOrder({ id })

/** Waits until the order is readable. */
async function isWritten({ orders }: Services, id: string): Promise<void> {
  await vi.waitFor(async () => expect(await orders.get('acc_1', id)).not.toBeNull(), SOON)
}

describe('the Redis of the change stream', () => {
  let redis: RunningRedis
  let feed: ChangeFeed
  beforeAll(async () => {
    redis = await startRedis({ args: KEEPS_ALL })
  })
  afterAll(() => redis.stop())
  beforeEach(async () => {
    feed = openChangeFeed({ STREAM_REDIS_URL: redis.url })
    feed.redis.on('error', () => {}) // A test may have killed it.
    closers.push(() => feed.close())
    await feed.redis.flushall()
  })

  it('the watch retries after Redis is killed, logs it once and loses no change', async () => {
    const services = await openEmbedded()
    const watch = start(redis.url)
    await feed.add(order('ord_1'), '{"half')
    await isWritten(services, 'ord_1')
    send('SIGKILL', redis)
    await watch.waitForLog('writes are failing')
    await redis.restart()
    await feed.add(order('ord_2'))
    await isWritten(services, 'ord_2')
    await watch.waitForLog('writes recovered')
    expectOutagesLoggedOnce(watch)
    expect(await feed.deadLetters()).toHaveLength(1)
    expect(await watch.stop('SIGTERM')).toBe(0)
  })

  it('a Redis that read its log again reports no written change as lost', async () => {
    const pass = async (count: number) => {
      const stream = await openRedisStream({ urls: [redis.url], ca: undefined, prefix: '' })
      await feed.add(...Array.from({ length: count }, (_, at) => order(`ord_${at}`)))
      const { entries, lost } = await stream.read()
      await stream.acknowledge(entries.map(({ id }) => id))
      await stream.close()
      return { read: entries.length, lost }
    }
    await pass(10)
    await feed.redis.bgrewriteaof() // Writes the number of read entries; later reads do not.
    const persistence = () => feed.redis.info('persistence')
    await expect
      .poll(persistence, SOON)
      .toMatch(/aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/)
    await pass(20)
    send('SIGKILL', redis)
    await redis.restart()
    await feed.redis.xtrim('orders:changes', 'MAXLEN', 0)
    expect(await pass(3)).toEqual({ read: 3, lost: [] })
  })

  it('a Redis that becomes a replica during a blocking read reports no lost stream', async () => {
    const stream = await openRedisStream({ urls: [redis.url], ca: undefined, prefix: '' })
    closers.push(() => stream.close())
    await feed.add(order('ord_1'))
    await drain(stream)
    const readAll = async (): Promise<never> => {
      for (;;) await stream.read()
    }
    const interrupted = readAll()
    interrupted.catch(() => {}) // Not awaited yet.
    await expect.poll(() => feed.redis.info('clients'), SOON).toContain('blocked_clients:1')
    await feed.redis.replicaof('127.0.0.1', 1)
    await expect(interrupted).rejects.toThrow()
    await feed.redis.replicaof('NO', 'ONE')
    await feed.add(order('ord_2'))
    const { entries, lost } = await vi.waitFor(() => stream.read(), SOON)
    expect({ read: entries.length, lost }).toEqual({ read: 1, lost: [] })
  })

  it('the watch loses no change when Redis is killed under load', async () => {
    const services = await openEmbedded()
    const watch = start(redis.url)
    const ids = Array.from({ length: 3_000 }, (_, n) => `ord_${n}`)
    await feed.add(...ids.map(order))
    await isWritten(services, 'ord_0')
    await redis.restart()
    await isWritten(services, 'ord_2999')
    await feed.allProcessed()
    const found = await Promise.all(ids.map((id) => services.orders.get('acc_1', id)))
    expect(found.filter((json) => json === null)).toEqual([])
    expect(await watch.stop('SIGTERM')).toBe(0)
  })

  it('the watch retries while Redis hangs and logs it', async () => {
    const services = await openEmbedded()
    const watch = start(redis.url)
    await watch.becomesWriter()
    send('SIGSTOP', redis)
    try {
      const { reason } = await watch.waitForLog('writes are failing')
      expect(reason).toBe('Redis did not respond within 10000 ms')
      await expect
        .poll(() => watch.operations('/health/ready'))
        .toBe(
          '{"status":"unavailable","checks":{"orders":"ok","stamps":"ok","stream":"unavailable","alias":"ok"}}',
        )
      expect(await watch.metric('indexing_is_writer')).toBe(1)
    } finally {
      send('SIGCONT', redis)
    }
    await feed.add(order('ord_1'))
    await isWritten(services, 'ord_1')
    await watch.waitForLog('writes recovered')
  })

  it('the watch retries when Redis is unavailable at start', async () => {
    send('SIGKILL', redis)
    const watch = start(redis.url)
    const { reason } = await watch.waitForLog('writes are failing')
    expect(reason).toMatch(/^no response from Redis: .*ECONNREFUSED/)
    await redis.restart()
    await watch.waitForLog('writes recovered')
  })

  it('the watch writes, dead-letters and trims while Redis is full', async () => {
    const services = await openEmbedded()
    await feed.add('{"half', order('ord_1'))
    closers.push(() => feed.redis.config('SET', 'maxmemory', '0'))
    await feed.redis.config('SET', 'maxmemory', '1')
    await expect(feed.add(order('ord_2'))).rejects.toThrow('OOM')
    const watch = start(redis.url)
    await isWritten(services, 'ord_1')
    await expect.poll(() => feed.deadLetters(), SOON).toHaveLength(1)
    // The last delivered entry stays.
    await expect.poll(() => feed.redis.xlen(feed.stream), SOON).toBe(1)
    expect(watch.output()).not.toContain('writes are failing')
  })

  it('the watch reads the stream from STREAM_REDIS_URL, not from REDIS_URL', async () => {
    const services = await openEmbedded()
    start(redis.url, { REDIS_URL: 'redis://127.0.0.1:1' })
    await feed.add(order('ord_1'))
    await isWritten(services, 'ord_1')
  })

  /** The warnings about a Redis that a stream opens as this user. */
  async function warningsOf(user = ''): Promise<string[]> {
    const warnings: string[] = []
    const urls = [redis.url.replace('//', `//${user}`)]
    const onWarning = (reason: string) => warnings.push(reason)
    const stream = await openRedisStream({ urls, ca: undefined, prefix: '', onWarning })
    await stream.ping()
    stream.close()
    return warnings
  }

  /** Creates the user `reader`, who may run every command but this one. */
  async function createReader(without: string): Promise<void> {
    closers.push(() => feed.redis.acl('DELUSER', 'reader'))
    await feed.redis.acl('SETUSER', 'reader', 'on', 'nopass', '~*', '+@all', without)
  }

  describe('that syncs its append-only file late', () => {
    const setPolicy = (policy: string) => feed.redis.config('SET', 'appendfsync', policy)
    beforeEach(() => {
      closers.push(() => setPolicy('always'))
    })

    it.each(['everysec', 'no'])('the stream warns about "appendfsync %s"', async (policy) => {
      await setPolicy(policy)
      const warning = `the Redis of the change stream has "appendfsync ${policy}": `
      expect(await warningsOf()).toEqual([expect.stringContaining(warning)])
      await setPolicy('always')
      expect(await warningsOf()).toEqual([])
    })

    it('a Redis that refuses CONFIG gives no warning', async () => {
      await setPolicy('everysec')
      await createReader('-config')
      expect(await warningsOf('reader:x@')).toEqual([])
    })
  })

  describe('without an append-only file', () => {
    const VOLATILE = /^the Redis of the change stream has no append-only file: /

    beforeEach(async () => {
      closers.push(() => feed.redis.config('SET', 'appendonly', 'yes'))
      await feed.redis.config('SET', 'appendonly', 'no')
    })

    it('the watch warns once that accepted changes may be lost', async () => {
      const watch = start(redis.url)
      await watch.becomesWriter()
      const { level } = await watch.waitForLog('the Redis of the change stream has no append-only')
      expect(level).toBe(40)
      expect(watch.output().match(/append-only/g)).toHaveLength(1)
    })

    it('the stream warns about the Redis, and not once it has a file', async () => {
      expect(await warningsOf()).toEqual([expect.stringMatching(VOLATILE)])
      await feed.redis.config('SET', 'appendonly', 'yes')
      expect(await warningsOf()).toEqual([])
    })

    it('a Redis that refuses INFO gives no warning', async () => {
      await createReader('-info')
      expect(await warningsOf('reader:x@')).toEqual([])
    })
  })

  it('the watch logs a wrong password as the cause, without the password', async () => {
    await feed.redis.config('SET', 'requirepass', 'correct-horse')
    closers.push(() => feed.redis.config('SET', 'requirepass', ''))
    const watch = start(`redis://:battery-staple@127.0.0.1:${redis.port}`)
    const { reason } = await watch.waitForLog('writes are failing')
    expect(reason).toMatch(/WRONGPASS|NOAUTH/)
    expect(watch.output()).not.toContain('battery-staple')
  })
})

describe('a Redis Cluster of the change stream', () => {
  const SLOTS = 16_384
  const QUARTER = SLOTS / 4
  const nodes: RunningRedis[] = []
  beforeAll(async () => {
    const args = ['--cluster-enabled', 'yes', ...KEEPS_ALL]
    nodes.push(await startRedis({ args }), await startRedis({ args }))
    const [one, other] = nodes.map(({ url }) => new Redis(url)) as [Redis, Redis]
    // Splits slots by quarters: the two names, of equal length, are never in different halves.
    await one.cluster('ADDSLOTSRANGE', 0, QUARTER - 1, 2 * QUARTER, 3 * QUARTER - 1)
    await other.cluster('ADDSLOTSRANGE', QUARTER, 2 * QUARTER - 1, 3 * QUARTER, SLOTS - 1)
    await one.cluster('MEET', '127.0.0.1', other.options.port ?? 0)
    for (const node of [one, other]) {
      await vi.waitFor(async () => {
        const state = await node.cluster('INFO')
        expect(state).toContain('cluster_state:ok')
        expect(state).toContain(`cluster_slots_ok:${SLOTS}`)
      }, SOON)
      node.disconnect()
    }
  })
  afterAll(() => Promise.all(nodes.map((node) => node.stop())))

  /** A client of the node that holds a stream. */
  async function homeOf(stream: string): Promise<Redis> {
    const clients = nodes.map(({ url }) => new Redis(url)) as [Redis, Redis]
    closers.push(() => clients.map((client) => client.disconnect()))
    const slot = await clients[0].cluster('KEYSLOT', stream)
    return clients[Math.floor(slot / QUARTER) % 2 === 0 ? 0 : 1]
  }

  it('the watch reads and writes dead letters when the two streams are on different nodes, which are full', async () => {
    const services = await openEmbedded()
    const changes = await homeOf('orders:changes')
    const deadLetters = await homeOf('orders:refused')
    expect(changes.options.port).not.toBe(deadLetters.options.port)
    await changes.xadd('orders:changes', '*', 'order', '{"half')
    await changes.xadd('orders:changes', '*', 'order', JSON.stringify(order('ord_1')))
    await Promise.all([changes, deadLetters].map((node) => node.config('SET', 'maxmemory', '1')))
    const urls = nodes.map(({ url }) => url).join(',')
    const watch = start(urls)
    await isWritten(services, 'ord_1')
    await vi.waitFor(async () => {
      expect(await watch.metric('indexing_stream_backlog')).toBe(0)
    }, SOON)
    expect(await deadLetters.xlen('orders:refused')).toBe(1)
  })
})
