import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDenialMemory, repeatDenials } from '../../../src/rate-limit/denial-memory.ts'
import {
  blockedSeconds,
  type FailureWindow,
  withFailure,
} from '../../../src/rate-limit/failed-authentications.ts'
import { type BucketRate, FULL_BUCKET, takeFromBucket } from '../../../src/rate-limit/gcra.ts'
import { createCountersLimiter } from '../../../src/rate-limit/shared-counters.ts'

const RATE: BucketRate = { capacity: 20, refillPerSecond: 10 }
const MAX_REMEMBERED = 10_000
const NAMES = ['a', 'b']

/** Shared counters on a clock of their own. */
function createCounters(rate: BucketRate, nowMs: () => number) {
  const buckets = new Map<string, typeof FULL_BUCKET>()
  const windows = new Map<string, FailureWindow>()
  let queries = 0
  const bucketNow = (name: string) =>
    takeFromBucket(rate, buckets.get(name) ?? FULL_BUCKET, Math.floor(nowMs() * 1000))
  const msLeft = (name: string) => {
    const window = windows.get(name)
    return blockedSeconds(window, nowMs()) === 0 ? 0 : (window?.endsAtMs ?? 0) - nowMs()
  }
  return {
    queries: () => queries,
    wouldAllow: (name: string) => bucketNow(name).decision.allowed,
    isBlocked: (name: string) => msLeft(name) > 0,
    flush() {
      buckets.clear()
      windows.clear()
    },
    async takeFromBucket(name: string) {
      queries += 1
      const { decision, state } = bucketNow(name)
      if (decision.allowed) buckets.set(name, state)
      const { debt, atMicros } = state
      const repaid = (Math.floor(nowMs() * 1000) - atMicros) * rate.refillPerSecond
      return { isAllowed: decision.allowed, debt: Math.max(0, debt - repaid) }
    },
    async blockedMs(name: string) {
      queries += 1
      return Math.ceil(msLeft(name))
    },
    async countFailure(name: string) {
      queries += 1
      const blocked = Math.ceil(msLeft(name))
      if (blocked === 0) windows.set(name, withFailure(windows.get(name), nowMs()))
      return blocked
    },
  }
}

/** A limiter that repeats denials, over counters whose clock runs at `speed`. */
function start(rate = RATE, speed = 1) {
  let nowMs = 5_000
  const counters = createCounters(rate, () => nowMs * speed)
  const clock = () => nowMs
  const memory = createDenialMemory(rate, clock)
  const limiter = createCountersLimiter(counters, { rate, denials: memory, clock })
  return {
    counters,
    limiter: repeatDenials(limiter, memory),
    /** The same without the memory. */
    plain: limiter,
    pass(ms: number) {
      nowMs += ms
    },
  }
}

const operation = fc.oneof(
  fc.record({ call: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 150 }) }),
  fc.record({ call: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 30_000 }) }),
  fc.record({
    call: fc.constantFrom('take', 'elsewhere', 'countFailure', 'blockedSeconds'),
    name: fc.constantFrom(...NAMES),
    times: fc.integer({ min: 1, max: 25 }),
  }),
)
const walks = fc.record({
  rate: fc.record({
    capacity: fc.integer({ min: 1, max: 40 }),
    refillPerSecond: fc.integer({ min: 1, max: 2_000 }),
  }),
  operations: fc.array(operation, { minLength: 1, maxLength: 60 }),
})

describe('a limiter that repeats denials', () => {
  it('decides as the counters alone would, request by request', async () => {
    await fc.assert(
      fc.asyncProperty(walks, async ({ rate, operations }) => {
        const tested = start(rate)
        const alone = start(rate)
        for (const one of operations) {
          if (one.call === 'pass') {
            tested.pass(one.ms)
            alone.pass(one.ms)
            continue
          }
          for (let time = 0; time < one.times; time++) {
            if (one.call === 'elsewhere') {
              const expected = await alone.counters.takeFromBucket(one.name)
              expect(await tested.counters.takeFromBucket(one.name)).toEqual(expected)
            } else {
              const expected = await alone.plain[one.call](one.name)
              expect(await tested.limiter[one.call](one.name)).toEqual(expected)
            }
          }
        }
      }),
    )
  })

  it('never denies what the counters would allow, although their clock runs 0.1% faster', async () => {
    await fc.assert(
      fc.asyncProperty(walks, async ({ rate, operations }) => {
        const { limiter, counters, pass } = start(rate, 1.001)
        for (const one of operations) {
          if (one.call === 'pass') pass(one.ms)
          else if (one.call === 'elsewhere') await counters.takeFromBucket(one.name)
          else {
            const isFree =
              one.call === 'take' ? counters.wouldAllow : (n: string) => !counters.isBlocked(n)
            const expected = isFree(one.name)
            const answer = await limiter[one.call](one.name)
            expect(typeof answer === 'number' ? answer === 0 : answer.allowed).toBe(expected)
          }
        }
      }),
    )
  })

  it('does not query the counters until just before the next token', async () => {
    const { limiter, counters, pass } = start()
    for (let time = 0; time < 21; time++) await limiter.take('a')
    for (let time = 0; time < 97; time++) {
      pass(1)
      expect((await limiter.take('a')).allowed).toBe(false)
    }
    expect(counters.queries()).toBe(21)
    pass(1)
    expect((await limiter.take('a')).allowed).toBe(false)
    expect(counters.queries()).toBe(22)
  })

  it('neither counts nor looks up the failures of a blocked address', async () => {
    const { limiter, counters, pass } = start()
    for (let time = 0; time < 31; time++) await limiter.countFailure('a')
    pass(999)
    expect([await limiter.countFailure('a'), await limiter.blockedSeconds('a')]).toEqual([60, 60])
    expect(counters.queries()).toBe(31)
  })

  it('lets an address in within a second after its counter was deleted', async () => {
    const { limiter, counters, pass } = start()
    for (let time = 0; time < 31; time++) await limiter.countFailure('a')
    counters.flush()
    pass(1_000)
    expect(await limiter.countFailure('a')).toBe(0)
  })

  it('allows an account a request within a second after its bucket was deleted', async () => {
    const { limiter, counters, pass } = start({ capacity: 1, refillPerSecond: 1 })
    await limiter.take('a')
    await limiter.take('a')
    counters.flush()
    pass(998)
    expect((await limiter.take('a')).allowed).toBe(true)
  })
})

describe('the memory of denials', () => {
  it('keeps the latest of a bounded number of accounts and addresses', () => {
    const memory = createDenialMemory(RATE, () => 0)
    for (let n = 0; n <= MAX_REMEMBERED; n++) {
      memory.recordEmpty(`${n}`, 20_000_000, 0)
      memory.recordBlock(`${n}`, 60_000, 0)
    }
    expect([memory.take('0'), memory.blockedSeconds('0')]).toEqual([undefined, 0])
    expect(memory.take(`${MAX_REMEMBERED}`)?.allowed).toBe(false)
    expect(memory.blockedSeconds(`${MAX_REMEMBERED}`)).toBe(60)
  })

  it.each([
    [0, 1],
    [497, 1],
    [498, 0],
  ])('ends a block of 500 ms just before its end: after %d ms, %d seconds are left', (at, left) => {
    const memory = createDenialMemory(RATE, () => at)
    memory.recordBlock('a', 500, 0)
    expect(memory.blockedSeconds('a')).toBe(left)
  })

  it('ignores a reply that is a second late', () => {
    const memory = createDenialMemory({ capacity: 1, refillPerSecond: 1 }, () => 6_000)
    memory.recordEmpty('a', 50_000_000, 5_000)
    memory.recordBlock('a', 60_000, 5_000)
    expect([memory.take('a'), memory.blockedSeconds('a')]).toEqual([undefined, 0])
  })
})
