import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BucketRate, takeFromBucket } from '../../../src/limits/gcra.ts'

const CONTRACT: BucketRate = { capacity: 20, refillPerSecond: 10 }
const FULL = 0

/** Decisions of one bucket at these instants. */
function decisions(rate: BucketRate, instants: readonly number[]) {
  let fullAtMs = FULL
  return instants.map((nowMs) => {
    const { fullAtMs: next, ...decision } = takeFromBucket(rate, fullAtMs, nowMs)
    fullAtMs = next
    return decision
  })
}

/**
 * The same as a bucket of tokens that is refilled step by step: thousandths of a token in whole numbers,
 * so nothing is ever rounded. `arrivals` are whole milliseconds.
 */
function modelDecisions({ capacity, refillPerSecond }: BucketRate, arrivals: readonly number[]) {
  const whole = BigInt(capacity) * 1000n
  const perMs = BigInt(refillPerSecond)
  const upToSecond = (missing: bigint) => Number((missing + perMs * 1000n - 1n) / (perMs * 1000n))
  let level = whole
  let lastMs = arrivals[0] ?? 0

  return arrivals.map((nowMs) => {
    level += BigInt(nowMs - lastMs) * perMs
    if (level > whole) level = whole
    lastMs = nowMs
    const allowed = level >= 1000n
    const wait = allowed ? 0 : Math.max(1, upToSecond(1000n - level))
    if (allowed) level -= 1000n
    return {
      allowed,
      remaining: Number(level / 1000n),
      resetSeconds: upToSecond(whole - level),
      retryAfterSeconds: wait,
    }
  })
}

const times = (count: number, nowMs: number) => Array.from({ length: count }, () => nowMs)
const rates = fc.record({
  capacity: fc.integer({ min: 1, max: 60 }),
  refillPerSecond: fc.integer({ min: 1, max: 60 }),
})
const gaps = fc.array(
  fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 5000 })),
  { minLength: 1, maxLength: 120 },
)
const arrivalsFrom = (startMs: number, between: readonly number[]) => {
  let nowMs = startMs
  return between.map((gap) => {
    nowMs += gap
    return nowMs
  })
}

describe('a bucket agrees with one that is refilled token by token', () => {
  it.each([
    ['a clock since start', 1_000],
    ['a process that has run for a year', 31_536_000_000],
    ['the wall clock', Date.parse('2026-03-01T12:00:00Z')],
  ])('under %s', (_name, startMs) => {
    fc.assert(
      fc.property(rates, gaps, (rate, between) => {
        const arrivals = arrivalsFrom(startMs, between)
        expect(decisions(rate, arrivals)).toEqual(modelDecisions(rate, arrivals))
      }),
      { numRuns: 300 },
    )
  })

  it('at the rate of the contract, whatever the clock', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 4_000_000_000_000 }), gaps, (startMs, between) => {
        const arrivals = arrivalsFrom(startMs, between)
        expect(decisions(CONTRACT, arrivals)).toEqual(modelDecisions(CONTRACT, arrivals))
      }),
      { numRuns: 300 },
    )
  })
})

describe('a bucket of 20 that refills 10 per second', () => {
  const now = 50_000

  it('lets exactly 20 of a burst pass', () => {
    const allowed = decisions(CONTRACT, times(25, now)).filter((decision) => decision.allowed)
    expect(allowed).toHaveLength(20)
  })

  it('counts the remaining requests down to 0', () => {
    const remaining = decisions(CONTRACT, times(21, now)).map((decision) => decision.remaining)
    expect(remaining).toEqual([...Array.from({ length: 20 }, (_, n) => 19 - n), 0])
  })

  it.each([
    [1, 1],
    [10, 1],
    [11, 2],
    [20, 2],
  ])('after %d requests is full again in %d seconds', (requests, seconds) => {
    expect(decisions(CONTRACT, times(requests, now)).at(-1)?.resetSeconds).toBe(seconds)
  })

  it.each([
    ['denies 1 ms before the next request is refilled', 99, false],
    ['allows at the instant it is refilled', 100, true],
  ])('%s', (_name, laterMs, allowed) => {
    const [last] = decisions(CONTRACT, [...times(20, now), now + laterMs]).slice(-1)
    expect(last?.allowed).toBe(allowed)
  })

  it('is full again, and not fuller, after a long rest', () => {
    const burst = decisions(CONTRACT, [...times(20, now), ...times(25, now + 3_600_000)])
    expect(burst.slice(20).filter(({ allowed }) => allowed)).toHaveLength(20)
  })

  it('asks to wait a whole second at least', () => {
    const [denied] = decisions(CONTRACT, [...times(20, now), now + 99]).slice(-1)
    expect(denied?.retryAfterSeconds).toBe(1)
  })

  it('asks an allowed request to wait for nothing', () => {
    expect(decisions(CONTRACT, [now])[0]?.retryAfterSeconds).toBe(0)
  })
})

describe('a bucket of one that refills once a second', () => {
  const slow: BucketRate = { capacity: 1, refillPerSecond: 1 }

  it.each([
    [0, 1],
    [1, 1],
    [999, 1],
  ])('denied after %d ms asks to wait %d second', (laterMs, seconds) => {
    expect(decisions(slow, [5000, 5000 + laterMs])[1]?.retryAfterSeconds).toBe(seconds)
  })

  it('passes after just a second', () => {
    expect(decisions(slow, [5000, 6000])[1]?.allowed).toBe(true)
  })
})

describe('a denied request', () => {
  const empty = { fullAtMs: 52_000, nowMs: 50_000 }

  it('changes nothing', () => {
    const denied = takeFromBucket(CONTRACT, empty.fullAtMs, empty.nowMs)
    expect([denied.allowed, denied.fullAtMs]).toEqual([false, empty.fullAtMs])
  })

  it('does not put off the next one, however many there are', () => {
    const flood = [...times(20, 50_000), ...times(1000, 50_050), 50_100]
    expect(decisions(CONTRACT, flood).at(-1)?.allowed).toBe(true)
  })

  it('says when the bucket is full', () => {
    expect(takeFromBucket(CONTRACT, empty.fullAtMs, empty.nowMs).resetSeconds).toBe(2)
  })
})
