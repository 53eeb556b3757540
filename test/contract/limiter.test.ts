import { afterEach, describe, expect, it, vi } from 'vitest'
import type { BucketRate } from '../../src/rate-limit/gcra.ts'
import type { Limiter } from '../../src/rate-limit/limiter.ts'
import {
  type LimiterUnderTest,
  limiters,
  promptly,
  type SharedLimiterUnderTest,
  sharedLimiters,
} from './limiters-under-test.ts'

const CONTRACT: BucketRate = { capacity: 20, refillPerSecond: 10 }
/** Refills no request in the time of a measurement that is prompt. */
const SLOW: BucketRate = { capacity: 20, refillPerSecond: 1 }

const together = <T>(count: number, call: () => Promise<T>) =>
  Promise.all(Array.from({ length: count }, call))
const takeTogether = (limiter: Limiter, count: number, accountId = 'acc_1') =>
  together(count, () => limiter.take(accountId))
const failTogether = (limiter: Limiter, count: number, address = '1.2.3.4') =>
  together(count, () => limiter.countFailure(address))
/** Calls a process whose clocks are this much ahead. */
async function withClocksAhead<T>(ms: number, call: () => Promise<T>): Promise<T> {
  const clocks = [Date, performance].map((clock) => {
    const now = clock.now.bind(clock)
    return vi.spyOn(clock, 'now').mockImplementation(() => now() + ms)
  })
  try {
    return await call()
  } finally {
    for (const clock of clocks) clock.mockRestore()
  }
}
/** Ten waves of both, one after the other. */
async function inWaves<T>(...calls: (() => Promise<T[]>)[]): Promise<T[]> {
  const answers: T[] = []
  for (let wave = 0; wave < 10; wave++) {
    for (const call of calls) answers.push(...(await call()))
  }
  return answers
}
const passed = (decisions: readonly { allowed: boolean }[]) =>
  decisions.filter(({ allowed }) => allowed).length
const zeros = (seconds: readonly number[]) => seconds.filter((left) => left === 0).length

/** The longest key, and every character of keys besides letters and digits. */
const keys = [
  `${'a-B_9'.repeat(12)}acc_.test`,
  '20010db800000000::/64',
  '203.0.113.77',
  'unknown',
  '~probe',
]

describe.each(limiters)('the limiter in %s', (_name, open) => {
  const opened: LimiterUnderTest[] = []
  async function openAt(rate: BucketRate) {
    const one = await open(rate)
    opened.push(one)
    return one
  }
  const promptlyAt = <T>(rate: BucketRate, measure: (one: LimiterUnderTest) => Promise<T>) =>
    promptly(() => openAt(rate), measure)
  afterEach(() => {
    for (const one of opened.splice(0)) one.close()
  })

  describe('with the bucket of an account', () => {
    it('allows exactly 20 of 200 parallel requests, plus the refill of the elapsed time', async () => {
      const { limiter } = await openAt(CONTRACT)
      const startedAt = performance.now()
      const decisions = await takeTogether(limiter, 200)
      const refilled = Math.ceil((performance.now() - startedAt) / 100)
      expect(passed(decisions)).toBeGreaterThanOrEqual(20)
      expect(passed(decisions)).toBeLessThanOrEqual(20 + refilled)
    })

    it('shares the bucket between two processes if they share counters, else keeps one each', async () => {
      const { limiter, another, isShared } = await openAt(CONTRACT)
      const other = await another()
      const startedAt = performance.now()
      const decisions = await Promise.all([takeTogether(limiter, 100), takeTogether(other, 100)])
      const refilled = Math.ceil((performance.now() - startedAt) / 100)
      const buckets = isShared ? 1 : 2
      expect(passed(decisions.flat())).toBeGreaterThanOrEqual(20 * buckets)
      expect(passed(decisions.flat())).toBeLessThanOrEqual((20 + refilled) * buckets)
    })

    it('allows exactly 20 of 200 requests in waves at two processes that share counters', async () => {
      const { limiter, another, isShared } = await openAt(SLOW)
      const other = await another()
      const startedAt = performance.now()
      const decisions = await inWaves(
        () => takeTogether(limiter, 10),
        () => takeTogether(other, 10),
      )
      const refilled = Math.ceil((performance.now() - startedAt) / 1000)
      const buckets = isShared ? 1 : 2
      expect(passed(decisions)).toBeGreaterThanOrEqual(20 * buckets)
      expect(passed(decisions)).toBeLessThanOrEqual((20 + refilled) * buckets)
    })

    it.each([-60_000, 60_000])(
      'shares the bucket between two processes that share counters and whose clocks differ by %d ms',
      async (ms) => {
        const [isShared, allowed] = await promptlyAt(
          SLOW,
          async ({ limiter, another, isShared }) => {
            const other = await another()
            const waves = [
              await takeTogether(limiter, 15),
              await withClocksAhead(ms, () => takeTogether(other, 15)),
              await takeTogether(limiter, 15),
            ]
            return [isShared, waves.map(passed)]
          },
        )
        expect(allowed).toEqual(isShared ? [15, 5, 0] : [15, 15, 5])
      },
    )

    it.each(keys)('counts the requests of an account with the key %s', async (key) => {
      const decisions = await promptlyAt(SLOW, ({ limiter }) => takeTogether(limiter, 21, key))
      expect(decisions.map(({ allowed }) => allowed)).toEqual([...Array(20).fill(true), false])
    })

    it('returns a different remaining count to each of 20 parallel requests', async () => {
      const decisions = await promptlyAt(SLOW, ({ limiter }) => takeTogether(limiter, 20))
      const remaining = decisions.map((decision) => decision.remaining)
      expect(remaining.toSorted((a, b) => b - a)).toEqual(
        Array.from({ length: 20 }, (_, n) => 19 - n),
      )
    })

    it.each([
      [1, { allowed: true, remaining: 19, resetSeconds: 1, retryAfterSeconds: 0 }],
      [3, { allowed: true, remaining: 17, resetSeconds: 3, retryAfterSeconds: 0 }],
      [20, { allowed: true, remaining: 0, resetSeconds: 20, retryAfterSeconds: 0 }],
      [21, { allowed: false, remaining: 0, resetSeconds: 20, retryAfterSeconds: 1 }],
    ])('returns the remaining count of request %d', async (count, expected) => {
      const decisions = await promptlyAt(SLOW, ({ limiter }) => takeTogether(limiter, count))
      expect(decisions.at(-1)).toEqual(expected)
    })

    it('refills with time', async () => {
      const decisions = await promptlyAt(SLOW, async ({ limiter, advance }) => {
        await takeTogether(limiter, 20)
        await advance('acc_1', 7_000)
        return await takeTogether(limiter, 20)
      })
      expect(passed(decisions)).toBe(7)
    })

    it('the bucket of an account never exceeds its capacity', async () => {
      const decisions = await promptlyAt(SLOW, async ({ limiter, advance }) => {
        await takeTogether(limiter, 20)
        await advance('acc_1', 86_400_000)
        return await takeTogether(limiter, 25)
      })
      expect(passed(decisions)).toBe(20)
    })

    it('denied requests do not charge the bucket of an account', async () => {
      const decisions = await promptlyAt(SLOW, async ({ limiter, advance }) => {
        await takeTogether(limiter, 220)
        await advance('acc_1', 1_000)
        return await takeTogether(limiter, 2)
      })
      expect(passed(decisions)).toBe(1)
    })

    it('the bucket of an account is independent of other accounts, and of an address with the same name', async () => {
      const { limiter } = await openAt(SLOW)
      await takeTogether(limiter, 30)
      await failTogether(limiter, 40, 'acc_2')
      expect(await limiter.take('acc_2')).toMatchObject({ allowed: true, remaining: 19 })
    })
  })

  describe('with the failed authentications of an address', () => {
    it('counts 30 of 200 parallel failures and blocks 170', async () => {
      const answers = await promptlyAt(CONTRACT, ({ limiter }) => failTogether(limiter, 200))
      expect([zeros(answers), answers.filter((seconds) => seconds === 60).length]).toEqual([
        30, 170,
      ])
    })

    it('shares the count between two processes that share counters', async () => {
      const { limiter, another, isShared } = await openAt(CONTRACT)
      const other = await another()
      const answers = await Promise.all([failTogether(limiter, 100), failTogether(other, 100)])
      expect(zeros(answers.flat())).toBe(isShared ? 30 : 60)
    })

    it('counts 30 of 200 failures in waves at two processes that share counters', async () => {
      const { limiter, another, isShared } = await openAt(CONTRACT)
      const other = await another()
      const answers = await inWaves(
        () => failTogether(limiter, 10),
        () => failTogether(other, 10),
      )
      expect(zeros(answers)).toBe(isShared ? 30 : 60)
    })

    it.each([-60_000, 60_000])(
      'shares the count between two processes that share counters and whose clocks differ by %d ms',
      async (ms) => {
        const { limiter, another, isShared } = await openAt(CONTRACT)
        const other = await another()
        const waves = [
          await failTogether(limiter, 20),
          await withClocksAhead(ms, () => failTogether(other, 20)),
          await failTogether(limiter, 20),
        ]
        expect(waves.map(zeros)).toEqual(isShared ? [20, 10, 0] : [20, 20, 10])
      },
    )

    it.each(keys)('counts the failures of an address with the key %s', async (key) => {
      const { limiter } = await openAt(CONTRACT)
      expect(zeros(await failTogether(limiter, 31, key))).toBe(30)
    })

    it('blocks no other address, and no account with the same name', async () => {
      const blocked = await promptlyAt(CONTRACT, async ({ limiter }) => {
        await failTogether(limiter, 30)
        await takeTogether(limiter, 40, '5.6.7.8')
        return [await limiter.blockedSeconds('1.2.3.4'), await limiter.blockedSeconds('5.6.7.8')]
      })
      expect(blocked).toEqual([60, 0])
    })

    it('a query whether the address is blocked does not count as a failure', async () => {
      const measured = await promptlyAt(CONTRACT, async ({ limiter }) => {
        await failTogether(limiter, 29)
        const queries = await together(100, () => limiter.blockedSeconds('1.2.3.4'))
        const last = await limiter.countFailure('1.2.3.4')
        return { queries: zeros(queries), last, blocked: await limiter.blockedSeconds('1.2.3.4') }
      })
      expect(measured).toEqual({ queries: 100, last: 0, blocked: 60 })
    })

    it('returns the remaining time in whole seconds', async () => {
      const left = await promptlyAt(CONTRACT, async ({ limiter, advance }) => {
        await failTogether(limiter, 30)
        await advance('1.2.3.4', 45_050)
        return [await limiter.countFailure('1.2.3.4'), await limiter.blockedSeconds('1.2.3.4')]
      })
      expect(left).toEqual([15, 15])
    })

    it('resets the count 60 seconds after the first failure, despite blocked attempts', async () => {
      const { limiter, advance } = await openAt(CONTRACT)
      await failTogether(limiter, 1)
      await advance('1.2.3.4', 30_000)
      expect(zeros(await failTogether(limiter, 100))).toBe(29)
      await advance('1.2.3.4', 30_000)
      expect(await limiter.blockedSeconds('1.2.3.4')).toBe(0)
      expect(zeros(await failTogether(limiter, 31))).toBe(30)
    })
  })
})

describe.each(sharedLimiters)('the store of the limiter in %s', (_name, open) => {
  const opened: SharedLimiterUnderTest[] = []
  async function openAt(rate: BucketRate) {
    const one = await open(rate)
    opened.push(one)
    return one
  }
  afterEach(() => {
    for (const one of opened.splice(0)) one.close()
  })

  /** The store counts whole milliseconds, and reads its clock once for several commands. */
  const CLOCK_STEP_MS = 10

  /** The times to live after a call, and how long ago it began at most. */
  async function ttlsAfter(
    { entryTtlsMs }: SharedLimiterUnderTest,
    name: string,
    call: () => Promise<unknown>,
  ) {
    const startedAt = performance.now()
    await call()
    const ttls = await entryTtlsMs(name)
    return { ttls, elapsedMs: performance.now() - startedAt + CLOCK_STEP_MS }
  }

  it('keeps a bucket until it is full', async () => {
    const { ttls, elapsedMs } = await promptly(
      () => openAt(SLOW),
      (one) => ttlsAfter(one, 'acc_1', () => takeTogether(one.limiter, 20)),
    )
    expect(ttls).toEqual([expect.toSatisfy((ttl: number) => ttl >= 20_000 - elapsedMs)])
  })

  it('keeps no idle bucket', async () => {
    const { one, ttls } = await promptly(
      () => openAt(SLOW),
      async (one) => {
        await one.limiter.take('acc_1')
        return { one, ttls: await one.entryTtlsMs('acc_1') }
      },
    )
    expect(ttls).toEqual([expect.toSatisfy((ttl: number) => ttl <= 2_000)])
    await expect.poll(() => one.entryTtlsMs('acc_1'), { timeout: 10_000 }).toEqual([])
  })

  it('allows a full bucket and ends a block when its clock is set back', async () => {
    const { limiter, setClockBack } = await openAt(SLOW)
    await takeTogether(limiter, 20)
    await failTogether(limiter, 30)
    await setClockBack('acc_1', 3_600_000)
    await setClockBack('1.2.3.4', 3_600_000)
    expect(await limiter.take('acc_1')).toMatchObject({ allowed: true, remaining: 19 })
    expect(await limiter.blockedSeconds('1.2.3.4')).toBe(0)
    const answers = await failTogether(limiter, 31)
    expect([zeros(answers), Math.max(...answers)]).toEqual([30, 60])
  })

  it('keeps failures for their window, and no longer', async () => {
    const { ttls, elapsedMs } = await promptly(
      () => openAt(CONTRACT),
      (one) => ttlsAfter(one, '1.2.3.4', () => failTogether(one.limiter, 40)),
    )
    const isWindow = (ttl: number) => ttl >= 60_000 - elapsedMs && ttl <= 61_000
    expect(ttls).toEqual([expect.toSatisfy(isWindow)])
  })
})
