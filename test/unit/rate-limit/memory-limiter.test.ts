import { beforeEach, describe, expect, it } from 'vitest'
import type { Limiter } from '../../../src/rate-limit/limiter.ts'
import { createMemoryLimiter } from '../../../src/rate-limit/memory-limiter.ts'

let nowMs: number
let limiter: Limiter

beforeEach(() => {
  nowMs = 5_000
  limiter = createMemoryLimiter({ capacity: 20, refillPerSecond: 10 }, () => nowMs)
})

const together = <T>(count: number, call: () => Promise<T>) =>
  Promise.all(Array.from({ length: count }, call))
const takeTogether = (count: number, accountId = 'acc_1') =>
  together(count, () => limiter.take(accountId))
const failTogether = (count: number, address = '1.2.3.4') =>
  together(count, () => limiter.countFailure(address))

describe('the bucket of an account', () => {
  it('allows exactly 20 of 200 concurrent requests', async () => {
    const decisions = await takeTogether(200)
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(20)
  })

  it('returns a different number of remaining requests to each of the 20', async () => {
    const decisions = await takeTogether(20)
    expect(new Set(decisions.map(({ remaining }) => remaining)).size).toBe(20)
  })

  it('the bucket of an account is independent of requests of other accounts', async () => {
    await takeTogether(200)
    expect(await limiter.take('acc_2')).toMatchObject({ allowed: true, remaining: 19 })
  })

  it('refills 10 requests in a second', async () => {
    await takeTogether(20)
    nowMs += 1000
    const decisions = await takeTogether(20)
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10)
  })

  it('the bucket of an account is not charged for denied requests', async () => {
    await takeTogether(200)
    nowMs += 100
    expect((await limiter.take('acc_1')).allowed).toBe(true)
  })

  it('the bucket of an account is full when the clock starts at 0', async () => {
    nowMs = 0
    const decisions = await takeTogether(25)
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(20)
  })

  it('returns only the decision', async () => {
    expect(await limiter.take('acc_1')).toEqual({
      allowed: true,
      remaining: 19,
      resetSeconds: 1,
      retryAfterSeconds: 0,
    })
  })
})

describe('the failed authentications of an address', () => {
  it('the failed authentications of an address are counted for 30 of 200 concurrent ones, and 170 are blocked', async () => {
    const answers = await failTogether(200)
    expect([
      answers.filter((seconds) => seconds === 0).length,
      answers.filter((seconds) => seconds === 60).length,
    ]).toEqual([30, 170])
  })

  it('the failed authentications of an address do not block another address', async () => {
    await failTogether(30)
    expect([
      await limiter.blockedSeconds('1.2.3.4'),
      await limiter.blockedSeconds('5.6.7.8'),
    ]).toEqual([60, 0])
  })

  it('the failed authentications of an address are not counted by a check whether the address is blocked', async () => {
    await failTogether(29)
    await together(200, () => limiter.blockedSeconds('1.2.3.4'))
    expect(await limiter.countFailure('1.2.3.4')).toBe(0)
  })

  it('the failed authentications of an address return the seconds until the end of the block', async () => {
    await failTogether(30)
    nowMs += 45_500
    expect(await limiter.countFailure('1.2.3.4')).toBe(15)
  })

  it('the failed authentications of an address expire 60 seconds after the first, regardless of blocked attempts', async () => {
    await failTogether(1)
    nowMs += 30_000
    await failTogether(100)
    nowMs += 30_000
    expect(await limiter.blockedSeconds('1.2.3.4')).toBe(0)
    expect((await failTogether(31)).filter((seconds) => seconds > 0)).toEqual([60])
  })
})
