import { randomUUID } from 'node:crypto'
import { createDenialMemory, repeatDenials } from '../../src/rate-limit/denial-memory.ts'
import type { BucketRate } from '../../src/rate-limit/gcra.ts'
import type { Limiter } from '../../src/rate-limit/limiter.ts'
import { createMemoryLimiter } from '../../src/rate-limit/memory-limiter.ts'
import { createCountersLimiter } from '../../src/rate-limit/shared-counters.ts'
import { connectRedis, RELAXED, type RedisConnection } from '../../src/stores/redis/client.ts'
import { createRedisCounters } from '../../src/stores/redis/shared-counters.ts'

/** Empty counters under test. */
export interface LimiterUnderTest {
  limiter: Limiter
  /** The limiter of a second process on the same store. */
  another(): Promise<Limiter>
  /** Whether the processes share counters. */
  isShared: boolean
  /** Moves all counts of this account or address back in time by this much. */
  advance(name: string, ms: number): Promise<void>
  close(): void
}

/** Empty counters in a store that processes share. */
export interface SharedLimiterUnderTest extends LimiterUnderTest {
  /** The milliseconds until each entry of this account or address expires; infinite for never. */
  entryTtlsMs(name: string): Promise<number[]>
  /** Sets the clock of the store back by this much, for the entries of this account or address. */
  setClockBack(name: string, ms: number): Promise<void>
}

type Limiters<UnderTest> = [name: string, open: (rate: BucketRate) => Promise<UnderTest>][]

/** The Redis of this run, if it has one. */
export const redisServers = process.env['REDIS_URL'] ? [process.env['REDIS_URL'].split(',')] : []

/** Every implementation that processes share. */
export const sharedLimiters: Limiters<SharedLimiterUnderTest> = redisServers.flatMap((urls) => [
  ['Redis', (rate) => openRedis(urls, rate)],
  ['Redis with repeated denials', (rate) => openRedis(urls, rate, true)],
])

/** Every implementation of the limiter port; the same tests run over each. */
export const limiters: Limiters<LimiterUnderTest> = [
  ['memory', async (rate) => openMemory(rate)],
  ...sharedLimiters,
]

/** Less than the refill of a request at one per second, and than a whole second of a block. */
const PROMPT_MS = 900

/**
 * Measures on counters that `open` empties, again until no time passed that would count. On Redis,
 * real time passes.
 */
export async function promptly<Opened, Measured>(
  open: () => Promise<Opened>,
  measure: (opened: Opened) => Promise<Measured>,
): Promise<Measured> {
  for (;;) {
    const opened = await open()
    const startedAt = performance.now()
    const measured = await measure(opened)
    if (performance.now() - startedAt < PROMPT_MS) return measured
  }
}

export function connectForTest(urls: readonly string[]): Promise<RedisConnection> {
  return connectRedis({
    urls,
    ca: undefined,
    timeouts: RELAXED,
    onError(error) {
      throw error
    },
  })
}

/** Prefixes every key of a test; the keys expire by themselves. */
export const ownPrefix = () => `test-${randomUUID()}:`

function openMemory(rate: BucketRate): LimiterUnderTest {
  let nowMs = 5_000
  const open = () => createMemoryLimiter(rate, () => nowMs)
  return {
    limiter: open(),
    another: async () => open(),
    isShared: false,
    async advance(_name, ms) {
      nowMs += ms
    },
    close() {},
  }
}

/** Replies of Redis in place of a time to live. */
const NO_EXPIRY = -1
const NO_SUCH_KEY = -2

async function openRedis(
  urls: readonly string[],
  rate: BucketRate,
  repeatsDenials = false,
): Promise<SharedLimiterUnderTest> {
  const prefix = ownPrefix()
  let advancedMs = 0
  const clock = () => performance.now() + advancedMs
  const connections: RedisConnection[] = []
  async function open() {
    const connection = await connectForTest(urls)
    connections.push(connection)
    const counters = createRedisCounters(connection.redis, prefix)
    if (!repeatsDenials) return createCountersLimiter(counters, { rate })
    const denials = createDenialMemory(rate, clock)
    const limiter = createCountersLimiter(counters, { rate, denials, clock })
    return repeatDenials(limiter, denials)
  }
  const limiter = await open()
  const [{ redis }] = connections as [RedisConnection]
  const bucketOf = (name: string) => `${prefix}bucket:{${name}}`
  const failuresOf = (name: string) => `${prefix}failures:{${name}}`

  /** Moves the counts back in time, and the end of the failures. */
  async function moveBack(name: string, ms: number) {
    const bucket = bucketOf(name)
    const [debt, atMicros] = ((await redis.get(bucket)) ?? '').split(' ')
    if (atMicros) await redis.set(bucket, `${debt} ${Number(atMicros) - ms * 1000}`, 'KEEPTTL')
    const failures = failuresOf(name)
    await redis.pexpire(failures, (await redis.pttl(failures)) - ms)
  }

  return {
    limiter,
    another: open,
    isShared: true,
    async entryTtlsMs(name) {
      const ttls = await Promise.all([redis.pttl(bucketOf(name)), redis.pttl(failuresOf(name))])
      return ttls
        .filter((ttl) => ttl !== NO_SUCH_KEY)
        .map((ttl) => (ttl === NO_EXPIRY ? Number.POSITIVE_INFINITY : ttl))
    },
    async advance(name, ms) {
      advancedMs += ms
      await moveBack(name, ms)
    },
    setClockBack: (name, ms) => moveBack(name, -ms),
    close() {
      for (const connection of connections) connection.close()
    },
  }
}
