import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectRedis, RELAXED } from '../../src/stores/redis/client.ts'
import { createRedisCounters } from '../../src/stores/redis/shared-counters.ts'
import { type RunningRedis, startRedis } from '../harness/services/redis.ts'
import { onTestEnd } from './limiter-process.ts'

const PREFIX = 'test:'
/** Redis keeps an emptied bucket for a minute, as it keeps the failures of an address. */
const RATE = { capacity: 60, refillPerSecond: 1 }
const ADDRESS = '203.0.113.77'
const ACCOUNT = 'acc_of_a_buyer'
const PASSWORD = 'correct-horse'
const WRONG_PASSWORD = 'battery-staple'

/** Every text that a log could derive from an error. */
const loggableText = (error: unknown) =>
  inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error)

describe('a Redis error', () => {
  let redis: RunningRedis
  beforeAll(async () => {
    redis = await startRedis({ args: ['--requirepass', PASSWORD] })
  })
  afterAll(() => redis.stop())

  async function open(password: string, urls = 1) {
    const errors: Error[] = []
    const url = `redis://:${password}@127.0.0.1:${redis.port}`
    const connection = await connectRedis({
      urls: Array.from({ length: urls }, () => url),
      ca: undefined,
      timeouts: { ...RELAXED, startMs: 1_000 }, // Without access, the whole start is a wait.
      onError: (error) => errors.push(error),
    })
    onTestEnd(connection.close)
    const counters = createRedisCounters(connection.redis, PREFIX)
    return { counters, errors, status: () => connection.redis.status }
  }

  async function thrownBy(work: Promise<unknown>): Promise<unknown> {
    return work.then(
      () => {
        throw new Error('the decision succeeded')
      },
      (error: unknown) => error,
    )
  }

  /** Calls every operation on keys of the wrong type. */
  async function decideOnWrongKeys(): Promise<unknown[]> {
    const admin = new Redis(redis.url, { password: PASSWORD })
    onTestEnd(() => admin.disconnect())
    const { counters, status } = await open(PASSWORD)
    await expect.poll(status).toBe('ready')
    const takes = Array.from({ length: RATE.capacity }, () =>
      counters.takeFromBucket(ACCOUNT, RATE),
    )
    await Promise.all([...takes, counters.countFailure(ADDRESS)])
    for (const key of await admin.keys(`${PREFIX}*`)) {
      await admin.del(key)
      await admin.lpush(key, 'x')
    }
    return [
      await thrownBy(counters.takeFromBucket(ACCOUNT, RATE)),
      await thrownBy(counters.countFailure(ADDRESS)),
      await thrownBy(counters.blockedMs(ADDRESS)),
    ]
  }

  it('a failed decision states the cause without account, address or key', async () => {
    const errors = await decideOnWrongKeys()
    expect(errors.map(String)).toEqual(Array(3).fill(expect.stringContaining('WRONGTYPE')))
    for (const error of errors) {
      for (const secret of [PASSWORD, ACCOUNT, ADDRESS, PREFIX]) {
        expect(loggableText(error)).not.toContain(secret)
      }
    }
  })

  it('a wrong password is reported without the password', async () => {
    const { errors } = await open(WRONG_PASSWORD)
    const reported = () => errors.map(String)
    await expect.poll(reported).toEqual([expect.stringMatching(/WRONGPASS|NOAUTH/)])
    expect(loggableText(errors)).not.toContain(WRONG_PASSWORD)
  })

  it('a wrong cluster password is reported without the password', async () => {
    const { errors } = await open(WRONG_PASSWORD, 2)
    await expect.poll(() => errors).not.toEqual([])
    expect(loggableText(errors)).not.toContain(WRONG_PASSWORD)
  })

  it('a failed decision without a connection contains no secret', async () => {
    const { counters } = await open(WRONG_PASSWORD)
    const errors = [
      await thrownBy(counters.takeFromBucket(ACCOUNT, RATE)),
      await thrownBy(counters.countFailure(ADDRESS)),
    ]
    for (const secret of [WRONG_PASSWORD, ACCOUNT, ADDRESS]) {
      expect(loggableText(errors)).not.toContain(secret)
    }
  })
})
