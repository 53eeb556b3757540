import fc from 'fast-check'
import type { Redis } from 'ioredis'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type BucketRate,
  bucketDecision,
  FULL_BUCKET,
  takeFromBucket,
} from '../../src/rate-limit/gcra.ts'
import type { Limiter } from '../../src/rate-limit/limiter.ts'
import { createCountersLimiter } from '../../src/rate-limit/shared-counters.ts'
import type { RedisConnection } from '../../src/stores/redis/client.ts'
import { createRedisCounters, TAKE_FROM_BUCKET } from '../../src/stores/redis/shared-counters.ts'
import { connectForTest, ownPrefix, promptly, redisServers } from './limiters-under-test.ts'

const RATE: BucketRate = { capacity: 20, refillPerSecond: 1 }

const takeTogether = (limiter: Limiter, count: number) =>
  Promise.all(Array.from({ length: count }, () => limiter.take('acc_1')))

describe.each(redisServers)('the bucket in Redis', (...urls) => {
  const opened: RedisConnection[] = []
  afterEach(() => {
    for (const connection of opened.splice(0)) connection.close()
  })
  async function openBucket(rate: BucketRate) {
    const connection = await connectForTest(urls)
    opened.push(connection)
    const prefix = ownPrefix()
    const limiter = createCountersLimiter(createRedisCounters(connection.redis, prefix), { rate })
    return { limiter, redis: connection.redis, key: `${prefix}bucket:{acc_1}` }
  }

  it('decides as the bucket in memory does, at any rate and with any clock', async () => {
    const { redis, key } = await openBucket(RATE)
    const sequences = fc.record({
      rate: fc.oneof(integers(60), integers(1_000_000)),
      gaps: fc.array(
        fc.oneof(
          fc.constant(0),
          fc.integer({ min: 0, max: 200_000 }),
          fc.integer({ min: -1_000_000, max: 5_000_000 }),
        ),
        { minLength: 1, maxLength: 60 },
      ),
    })
    let run = 0
    await fc.assert(
      fc.asyncProperty(sequences, async ({ rate, gaps }) => {
        let nowMicros = Date.parse('2026-03-01T12:00:00Z') * 1000
        let state = FULL_BUCKET
        const arrivals = gaps.map((gap) => (nowMicros += gap))
        const expected = arrivals.map((at) => {
          const taken = takeFromBucket(rate, state, at)
          state = taken.state
          return taken.decision
        })
        run += 1
        const time = arrivals.flatMap((at) => [Math.floor(at / 1_000_000), at % 1_000_000])
        const { capacity, refillPerSecond } = rate
        const answers = await redis.eval(
          takesAtGivenTimes,
          1,
          `${key}:${run}`,
          capacity,
          refillPerSecond,
          ...time,
        )
        expect(
          (answers as [number, number][]).map(([passes, debt]) =>
            bucketDecision(rate, passes === 1, debt),
          ),
        ).toEqual(expected)
      }),
      { numRuns: 200 },
    )
  })

  it('the bucket in Redis is written for an allowed request, and not for a denied one', async () => {
    const { before, decisions, after } = await promptly(
      () => openBucket(RATE),
      async ({ limiter, redis, key }) => {
        await takeTogether(limiter, 20)
        const before = await redis.get(key)
        const decisions = await takeTogether(limiter, 10)
        return { before, decisions, after: await redis.get(key) }
      },
    )
    expect(before).toMatch(/^\d+ \d{16}$/)
    expect(decisions.some(({ allowed }) => allowed)).toBe(false)
    expect(after).toBe(before)
  })

  it('is queried in one write by all requests of one turn of the event loop', async () => {
    const { limiter, redis } = await openBucket(RATE)
    await takeTogether(limiter, 1) // Sends the script.
    const { stream } = redis as Redis
    const decisions = [limiter.take('acc_1'), limiter.countFailure('1.2.3.4')]
    expect(stream.writableCorked).toBe(1)
    expect(stream.writableLength).toBeGreaterThan(0)
    await Promise.all(decisions)
    expect([stream.writableCorked, stream.writableLength]).toEqual([0, 0])
  })

  it('expires when it would be full again', async () => {
    /** From full to expired. Redis reads its clock for each, and a busy machine pauses between. */
    async function lateMs() {
      const { limiter, redis, key } = await openBucket(RATE)
      await takeTogether(limiter, 20)
      const [debt, atMicros] = ((await redis.get(key)) ?? '').split(' ').map(Number)
      const fullAtMs = ((atMicros ?? 0) + (debt ?? 0)) / 1000
      return Math.abs((await redis.pexpiretime(key)) - fullAtMs)
    }
    await expect.poll(lateMs).toBeLessThan(3)
  })
})

it.each([null, 'OK', -1, [1], [2, 5], [1, -1], [1, 1.5], ['1', '5']])(
  'the bucket reports an unexpected reply as an error that names Redis: %j',
  async (reply) => {
    const run = async () => reply
    const scripts = { takeFromBucket: run, blockedMs: run, countFailure: run }
    const odd = { defineCommand() {}, ...scripts } as unknown as Redis
    const counters = createRedisCounters(odd, '')
    await expect(counters.takeFromBucket('acc_1', RATE)).rejects.toThrow(
      'unexpected reply from Redis',
    )
    await expect(counters.blockedMs('1.2.3.4')).rejects.toThrow('unexpected reply from Redis')
    await expect(counters.countFailure('1.2.3.4')).rejects.toThrow('unexpected reply from Redis')
  },
)

const integers = (max: number) =>
  fc.record({
    capacity: fc.integer({ min: 1, max }),
    refillPerSecond: fc.integer({ min: 1, max }),
  })

/**
 * Runs the script many times in one call, with timestamps of the caller, so that nothing expires
 * meanwhile.
 */
const takesAtGivenTimes = `
local function take(KEYS, ARGV)
  ${TAKE_FROM_BUCKET.replace("redis.call('TIME')", '{ ARGV[3], ARGV[4] }')}
end
local answers = {}
for at = 3, #ARGV, 2 do
  answers[#answers + 1] = take(KEYS, { ARGV[1], ARGV[2], ARGV[at], ARGV[at + 1] })
end
return answers
`
