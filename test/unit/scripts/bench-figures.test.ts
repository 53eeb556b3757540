import { describe, expect, it } from 'vitest'
import { median, medianRatio, percentile } from '../../../scripts/bench/measuring/figures.ts'

describe('a percentile', () => {
  const hundred = Float64Array.from({ length: 100 }, (_, at) => at + 1)

  it.each([
    [0, 1],
    [0.5, 50],
    [0.99, 99],
    [0.991, 100],
    [1, 100],
  ])('at %d is one of the values, the least that so many do not exceed', (share, value) => {
    expect(percentile(hundred, share)).toBe(value)
  })

  it('of one value is that value', () => {
    expect(percentile([7], 0.99)).toBe(7)
  })

  it('of no values is an error', () => {
    expect(() => percentile([], 0.5)).toThrow('no values')
  })
})

describe('the median', () => {
  it.each([
    [[3], 3],
    [[9, 1, 5], 5],
    [[10, 1, 2, 4], 3],
    [[100, 20, 3], 20],
  ])('of %j is %d', (values, value) => {
    expect(median(values)).toBe(value)
  })

  it('leaves its values in their order', () => {
    const values = [3, 1, 2]
    median(values)
    expect(values).toEqual([3, 1, 2])
  })

  it('of no values is an error', () => {
    expect(() => median([])).toThrow('no values')
  })
})

describe('the ratio of two sides', () => {
  it('is taken in each round, so that a machine slow in one of them does not change it', () => {
    expect(medianRatio([50, 5, 50], [100, 10, 100])).toBe(0.5)
  })

  it('is not the ratio of the medians', () => {
    expect(medianRatio([1, 20, 30], [10, 20, 10])).toBe(1)
  })
})
