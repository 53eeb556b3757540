import { describe, expect, it } from 'vitest'
import { createAdaptiveConcurrency } from '../../../../../src/webhooks/dispatcher/lanes/adaptive-concurrency.ts'

describe('the concurrency of an endpoint', () => {
  it('it rises by one after as many successes', () => {
    const concurrency = createAdaptiveConcurrency(2)
    const limits = Array.from({ length: 5 }, () => {
      concurrency.recordSuccess()
      return concurrency.limit()
    })
    expect(limits).toEqual([2, 3, 3, 3, 4])
  })

  it('it never exceeds 32', () => {
    const concurrency = createAdaptiveConcurrency(8)
    for (let count = 0; count < 10_000; count++) concurrency.recordSuccess()
    expect(concurrency.limit()).toBe(32)
  })

  it('a failure halves it, to one at least', () => {
    const concurrency = createAdaptiveConcurrency(8)
    const limits = [500, 404, null, 301].map((status) => {
      concurrency.recordFailure(status)
      return concurrency.limit()
    })
    expect(limits).toEqual([4, 2, 1, 1])
  })

  it.each([429, 502, 503, 504])('a response %i lowers it to one', (status) => {
    const concurrency = createAdaptiveConcurrency(32)
    concurrency.recordFailure(status)
    expect(concurrency.limit()).toBe(1)
  })

  it('a failure resets the count of successes', () => {
    const concurrency = createAdaptiveConcurrency(4)
    for (let count = 0; count < 3; count++) concurrency.recordSuccess()
    concurrency.recordFailure(500)
    concurrency.recordSuccess()
    expect(concurrency.limit()).toBe(2)
  })

  it('a restart begins with one', () => {
    const concurrency = createAdaptiveConcurrency(8)
    concurrency.restart()
    expect(concurrency.limit()).toBe(1)
  })
})
