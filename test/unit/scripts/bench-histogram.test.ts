import { describe, expect, it } from 'vitest'
import {
  bucketsSince,
  estimatePercentile,
  readBuckets,
} from '../../../scripts/bench/measuring/histogram.ts'

const METRICS = `# TYPE indexing_lag_seconds histogram
indexing_lag_seconds_bucket{le="0.5"} 10
indexing_lag_seconds_bucket{le="1"} 30
indexing_lag_seconds_bucket{le="+Inf"} 40
indexing_lag_seconds_sum 31.5
indexing_lag_seconds_count 40
`
const INFINITE = Number.POSITIVE_INFINITY

describe('a histogram of the metrics', () => {
  it('is read with its bounds', () => {
    expect(readBuckets(METRICS, 'indexing_lag_seconds')).toEqual([
      { le: 0.5, count: 10 },
      { le: 1, count: 30 },
      { le: INFINITE, count: 40 },
    ])
  })

  it('that is not there has no buckets', () => {
    expect(readBuckets(METRICS, 'another_seconds')).toEqual([])
  })

  it('tells what came in between two readings', () => {
    const before = [
      { le: 1, count: 3 },
      { le: INFINITE, count: 5 },
    ]
    const after = [
      { le: 1, count: 10 },
      { le: INFINITE, count: 15 },
    ]
    expect(bucketsSince(before, after)).toEqual([
      { le: 1, count: 7 },
      { le: INFINITE, count: 10 },
    ])
  })

  it.each([
    [0.25, 0.5],
    [0.5, 0.75],
    [0.75, 1],
    [0.99, 1],
  ])('has its share %d of the values up to %d', (share, value) => {
    const buckets = readBuckets(METRICS, 'indexing_lag_seconds')
    expect(estimatePercentile(buckets, share)).toBe(value)
  })

  it('of no values has no percentile', () => {
    expect(estimatePercentile([{ le: INFINITE, count: 0 }], 0.5)).toBeNaN()
  })
})
