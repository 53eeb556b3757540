import { describe, expect, it } from 'vitest'
import { metricsMicros, redisSeconds, residentBytes } from '../../../scripts/bench/measuring/cpu.ts'
import {
  median,
  medianRatio,
  percentile,
  summarize,
} from '../../../scripts/bench/measuring/figures.ts'
import {
  bucketsSince,
  estimatePercentile,
  readBuckets,
} from '../../../scripts/bench/measuring/histogram.ts'
import { formatFigure, formatRatio, renderTable } from '../../../scripts/bench/reporting/table.ts'

describe('percentile', () => {
  it.each([
    [0, 1],
    [0.5, 50],
    [0.99, 99],
    [0.991, 100],
    [1, 100],
  ])('A percentile at %d of 1 to 100 is the value %d, without interpolation', (share, value) => {
    expect(
      percentile(
        Float64Array.from({ length: 100 }, (_, at) => at + 1),
        share,
      ),
    ).toBe(value)
  })

  it('Percentiles and medians of no values throw', () => {
    expect(() => percentile([], 0.5)).toThrow('no values')
    expect(() => median([])).toThrow('no values')
  })
})

describe('median', () => {
  it.each([
    [[3], 3],
    [[9, 1, 5], 5],
    [[10, 1, 2, 4], 3],
    [[100, 20, 3], 20],
  ])('The median of %j is %d, and its argument keeps its order', (values, value) => {
    const before = [...values]
    expect(median(values)).toBe(value)
    expect(values).toEqual(before)
  })

  it('A ratio of two contenders pairs the values of each round', () => {
    expect(medianRatio([50, 5, 50], [100, 10, 100])).toBe(0.5)
    expect(medianRatio([1, 20, 30], [10, 20, 10])).toBe(1) // The ratio of the medians is 2.
  })
})

describe('summarize', () => {
  it('A summary has the median of each figure, sums of counts, and the greatest of maxima', () => {
    const round = (ms: number, answers: number) => ({ answers, cpu: { api: ms }, mostMs: ms })
    expect(summarize([round(1, 10), round(9, 20), round(3, 40)])).toEqual({
      answers: 70,
      cpu: { api: 3 },
      mostMs: 9,
    })
  })

  it('A summary adds up every kind of failure', () => {
    const rounds = [{ 'status 503': 2 }, {}, { 'status 503': 1, ECONNRESET: 4 }]
    expect(summarize(rounds.map((failures) => ({ failures })))).toEqual({
      failures: { 'status 503': 3, ECONNRESET: 4 },
    })
  })
})

describe('histogram', () => {
  const metrics = `# TYPE indexing_lag_seconds histogram
indexing_lag_seconds_bucket{le="0.5"} 10
indexing_lag_seconds_bucket{le="1"} 30
indexing_lag_seconds_bucket{le="+Inf"} 40
indexing_lag_seconds_sum 31.5
`
  const buckets = readBuckets(metrics, 'indexing_lag_seconds')
  const infinite = Number.POSITIVE_INFINITY

  it('A histogram is read with its bounds, and an absent one has no buckets', () => {
    expect(buckets.map(({ le, count }) => [le, count])).toEqual([
      [0.5, 10],
      [1, 30],
      [infinite, 40],
    ])
    expect(readBuckets(metrics, 'another_seconds')).toEqual([])
  })

  it('The difference of two readings counts the values between them', () => {
    const earlier = buckets.map(({ le }) => ({ le, count: 3 }))
    expect(bucketsSince(earlier, buckets).map(({ count }) => count)).toEqual([7, 27, 37])
  })

  it.each([
    [0.25, 0.5],
    [0.5, 0.75],
    [0.75, 1],
    [0.99, 1],
  ])('The estimated percentile at %d is %d', (share, value) => {
    expect(estimatePercentile(buckets, share)).toBe(value)
  })

  it('A histogram without values has no percentile', () => {
    expect(estimatePercentile([{ le: infinite, count: 0 }], 0.5)).toBeNaN()
  })
})

describe('process metrics', () => {
  it('CPU time of Redis is user and system time, without that of its children', () => {
    const info =
      'used_cpu_sys:1.5\r\nused_cpu_user:2.25\r\nused_cpu_sys_children:100\r\nused_cpu_user_children:100'
    expect(redisSeconds(info)).toBe(3.75)
  })

  it('CPU time and memory of the service are read from its metrics', () => {
    const metrics = `process_cpu_user_seconds_total 1
process_cpu_seconds_total 1.5
process_resident_memory_bytes 98765432`
    expect(metricsMicros(metrics)).toBe(1.5e6)
    expect(residentBytes(metrics)).toBe(98_765_432)
  })
})

describe('tables', () => {
  it('A table aligns its first column to the left and the others to the right', () => {
    const rows = [
      ['large', '1', '20000'],
      ['s', '0.5', '3'],
    ]
    expect(renderTable(['case', 'rate', 'p50'], rows)).toBe(
      'case   rate    p50\n-----  ----  -----\nlarge     1  20000\ns       0.5      3',
    )
  })

  it.each([
    [0, '0.000'],
    [0.1234, '0.123'],
    [12.34, '12.3'],
    [12_345.6, '12346'],
    [-1.234, '-1.23'],
    [Number.NaN, '-'],
  ])('The figure %d is rendered as %s', (value, text) => {
    expect(formatFigure(value)).toBe(text)
  })

  it('A ratio to nothing is rendered as a dash', () => {
    expect(formatRatio(1 / 0)).toBe('-')
  })
})
