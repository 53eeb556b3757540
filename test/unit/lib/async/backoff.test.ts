import { describe, expect, it } from 'vitest'
import { type Backoff, backoffMs } from '../../../../src/lib/async/backoff.ts'

const pauses = (count: number, backoff?: Backoff) =>
  Array.from({ length: count }, (_, n) => backoffMs(n + 1, backoff))

describe('backoffMs', () => {
  it('starts at 100 ms and doubles up to 5 s', () => {
    expect(pauses(8)).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
  })

  it('starts and ends at the given delays', () => {
    expect(pauses(5, { firstMs: 50, longestMs: 300 })).toEqual([50, 100, 200, 300, 300])
  })

  it('stays at the longest delay for any number of failures', () => {
    expect([backoffMs(1_025), backoffMs(100_000)]).toEqual([5_000, 5_000])
  })
})
