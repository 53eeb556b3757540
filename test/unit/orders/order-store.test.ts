import { describe, expect, it } from 'vitest'
import { datedRange, NULL_UPDATED_KEY } from '../../../src/orders/order-store.ts'

describe('a filter on updated_at', () => {
  it.each([
    ['without bounds includes undated orders', {}, {}],
    ['from an instant on excludes undated orders', { gte: 5 }, { gte: 5, lt: NULL_UPDATED_KEY }],
    ['from the epoch on excludes undated orders', { gte: 0 }, { gte: 0, lt: NULL_UPDATED_KEY }],
    ['up to an instant excludes undated orders', { lt: 9 }, { lt: 9 }],
    ['up to the epoch excludes undated orders', { lt: 0 }, { lt: 0 }],
    ['between two instants excludes undated orders', { gte: 5, lt: 9 }, { gte: 5, lt: 9 }],
    ['up to their key excludes undated orders', { lt: NULL_UPDATED_KEY }, { lt: NULL_UPDATED_KEY }],
    [
      'beyond their key excludes undated orders',
      { lt: NULL_UPDATED_KEY + 1 },
      { lt: NULL_UPDATED_KEY },
    ],
  ])('a filter on updated_at %s', (_name, range, keys) => {
    expect(datedRange(range)).toStrictEqual(keys)
  })
})

describe('the key of an order without updated_at', () => {
  it('the key of an order without updated_at is exact in JSON and after every valid date', () => {
    expect(JSON.parse(String(NULL_UPDATED_KEY))).toBe(NULL_UPDATED_KEY)
    expect(Number.isSafeInteger(NULL_UPDATED_KEY)).toBe(true)
    expect(new Date(NULL_UPDATED_KEY + 1).getTime()).toBeNaN()
  })
})
