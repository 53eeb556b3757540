import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type BucketRate,
  type BucketState,
  FULL_BUCKET,
  takeFromBucket,
} from '../../../src/rate-limit/gcra.ts'

const CONTRACT: BucketRate = { capacity: 20, refillPerSecond: 10 }

/** Decisions of one bucket at the given microseconds. */
function decisionsAt(rate: BucketRate, instants: readonly number[], from = FULL_BUCKET) {
  let state = from
  return instants.map((nowMicros) => {
    const taken = takeFromBucket(rate, state, nowMicros)
    state = taken.state
    return taken.decision
  })
}

/** The same in milliseconds. */
const decisions = (rate: BucketRate, instants: readonly number[]) =>
  decisionsAt(
    rate,
    instants.map((ms) => ms * 1000),
  )

const TOKEN = 1_000_000n

/** The expected decision for a debt in millionths, computed with bigint. */
function modelDecision({ capacity, refillPerSecond }: BucketRate, allowed: boolean, owed: bigint) {
  const perSecond = BigInt(refillPerSecond) * TOKEN
  const upToSecond = (missing: bigint) => Number((missing + perSecond - 1n) / perSecond)
  const left = BigInt(capacity) * TOKEN - owed
  return {
    allowed,
    remaining: Number(left / TOKEN),
    resetSeconds: upToSecond(owed),
    retryAfterSeconds: allowed ? 0 : Math.max(1, upToSecond(TOKEN - left)),
  }
}

/** A reference model: a token bucket refilled step by step; `arrivals` in microseconds. */
function modelDecisions(rate: BucketRate, arrivals: readonly number[]) {
  const whole = BigInt(rate.capacity) * TOKEN
  let level = whole
  let lastMicros = arrivals[0] ?? 0

  return arrivals.map((nowMicros) => {
    level += BigInt(nowMicros - lastMicros) * BigInt(rate.refillPerSecond)
    if (level > whole) level = whole
    lastMicros = nowMicros
    const allowed = level >= TOKEN
    if (allowed) level -= TOKEN
    return modelDecision(rate, allowed, whole - level)
  })
}

const times = (count: number, nowMs: number) => Array.from({ length: count }, () => nowMs)
const rates = fc.record({
  capacity: fc.integer({ min: 1, max: 60 }),
  refillPerSecond: fc.integer({ min: 1, max: 60 }),
})
const hugeRates = fc.record({
  capacity: fc.oneof(
    fc.integer({ min: 1, max: 1_000_000 }),
    fc.constantFrom(1, 999_999, 1_000_000),
  ),
  refillPerSecond: fc.oneof(
    fc.integer({ min: 1, max: 1_000_000 }),
    fc.constantFrom(1, 3, 999_983, 1_000_000),
  ),
})
const MS = 1_000
const gaps = fc.array(
  fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 200 }),
    fc.integer({ min: 0, max: 200 }).map((ms) => ms * MS),
    fc.integer({ min: 0, max: 5000 * MS }),
  ),
  { minLength: 1, maxLength: 120 },
)
const arrivalsFrom = (startMs: number, between: readonly number[]) => {
  let nowMicros = startMs * MS
  return between.map((gap) => {
    nowMicros += gap
    return nowMicros
  })
}

describe('the token-by-token model of a bucket', () => {
  it.each([
    ['a monotonic clock', 1_000],
    ['a process that has run for a year', 31_536_000_000],
    ['the wall clock', Date.parse('2026-03-01T12:00:00Z')],
  ])('a bucket agrees with the token-by-token model under %s', (_name, startMs) => {
    fc.assert(
      fc.property(rates, gaps, (rate, between) => {
        const arrivals = arrivalsFrom(startMs, between)
        expect(decisionsAt(rate, arrivals)).toEqual(modelDecisions(rate, arrivals))
      }),
      { numRuns: 300 },
    )
  })

  it('a bucket agrees with the token-by-token model at the default rate, for any clock', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 4_000_000_000_000 }), gaps, (startMs, between) => {
        const arrivals = arrivalsFrom(startMs, between)
        expect(decisionsAt(CONTRACT, arrivals)).toEqual(modelDecisions(CONTRACT, arrivals))
      }),
      { numRuns: 300 },
    )
  })

  it('a bucket agrees with the token-by-token model at any valid rate and from any debt, without rounding', () => {
    const nowMicros = Date.parse('2100-01-01T00:00:00Z') * MS
    const day = 86_400_000_000
    const elapsed = fc.oneof(
      fc.integer({ min: 0, max: day }),
      fc.integer({ min: 0, max: 2_000_000 }),
    )
    const share = fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true }))
    fc.assert(
      fc.property(hugeRates, share, elapsed, (rate, part, ago) => {
        const debt = Math.floor(part * rate.capacity * 1_000_000)
        const before = { debt, atMicros: nowMicros - ago }
        const taken = takeFromBucket(rate, before, nowMicros)

        const repaid = BigInt(ago) * BigInt(rate.refillPerSecond)
        const left = repaid > debt ? 0n : BigInt(debt) - repaid
        const allowed = left + TOKEN <= BigInt(rate.capacity) * TOKEN
        const after = allowed ? left + TOKEN : left
        expect(taken.decision).toEqual(modelDecision(rate, allowed, after))
        expect(taken.state).toEqual(allowed ? { debt: Number(after), atMicros: nowMicros } : before)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a bucket of 20 that refills 10 per second', () => {
  const now = 50_000

  it('allows exactly 20 requests of a burst', () => {
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
  ])('a bucket of 20 is full again after %d requests in %d seconds', (requests, seconds) => {
    expect(decisions(CONTRACT, times(requests, now)).at(-1)?.resetSeconds).toBe(seconds)
  })

  it.each([
    ['denies 1 ms before the next request is refilled', 99, false],
    ['allows at the instant it is refilled', 100, true],
  ])('a bucket of 20 that refills 10 per second %s', (_name, laterMs, allowed) => {
    const [last] = decisions(CONTRACT, [...times(20, now), now + laterMs]).slice(-1)
    expect(last?.allowed).toBe(allowed)
  })

  it('a bucket of 20 that refills 10 per second never exceeds its capacity after a long pause', () => {
    const burst = decisions(CONTRACT, [...times(20, now), ...times(25, now + 3_600_000)])
    expect(burst.slice(20).filter(({ allowed }) => allowed)).toHaveLength(20)
  })

  it('returns a retry time of at least a second', () => {
    const [denied] = decisions(CONTRACT, [...times(20, now), now + 99]).slice(-1)
    expect(denied?.retryAfterSeconds).toBe(1)
  })

  it('returns a retry time of 0 for an allowed request', () => {
    expect(decisions(CONTRACT, [now])[0]?.retryAfterSeconds).toBe(0)
  })
})

describe('a bucket of one that refills once a second', () => {
  const slow: BucketRate = { capacity: 1, refillPerSecond: 1 }

  it.each([
    [0, 1],
    [1, 1],
    [999, 1],
  ])('a request denied after %d ms gets a retry time of %d second', (laterMs, seconds) => {
    expect(decisions(slow, [5000, 5000 + laterMs])[1]?.retryAfterSeconds).toBe(seconds)
  })

  it('allows the next request after exactly a second', () => {
    expect(decisions(slow, [5000, 6000])[1]?.allowed).toBe(true)
  })
})

describe('a denied request', () => {
  const empty: BucketState = { debt: 20_000_000, atMicros: 50_000_000 }
  const denied = takeFromBucket(CONTRACT, empty, 50_050_000)

  it('a denied request does not change the state', () => {
    expect([denied.decision.allowed, denied.state]).toEqual([false, empty])
  })

  it('a denied request does not delay the next allowed request', () => {
    const flood = [...times(20, 50_000), ...times(1000, 50_050), 50_100]
    expect(decisions(CONTRACT, flood).at(-1)?.allowed).toBe(true)
  })

  it('reports when the bucket is full', () => {
    expect(denied.decision.resetSeconds).toBe(2)
  })
})

describe('a bucket whose clock was set back', () => {
  const empty: BucketState = { debt: 20_000_000, atMicros: 3_600_000_000 }

  it('refills after a large step back', () => {
    const burst = decisionsAt(CONTRACT, times(25, 0), empty)
    expect(burst.filter(({ allowed }) => allowed)).toHaveLength(20)
  })

  it('refills a negligible amount after a small step back', () => {
    const [decision] = decisionsAt(CONTRACT, [empty.atMicros - 1000], empty)
    expect(decision?.allowed).toBe(false)
  })
})

it('a bucket whose capacity was lowered denies with 0 requests left', () => {
  const { decision } = takeFromBucket(CONTRACT, { debt: 100_000_000, atMicros: 0 }, 0)
  expect(decision).toEqual({
    allowed: false,
    remaining: 0,
    resetSeconds: 10,
    retryAfterSeconds: 9,
  })
})
