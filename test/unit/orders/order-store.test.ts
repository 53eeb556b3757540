import { describe, expect, it } from 'vitest'
import { datedRange, NULL_UPDATED_KEY } from '../../../src/orders/order-store.ts'

describe('a filter on updated_at', () => {
  it.each([
    ['at neither end leaves the orders without one', {}, {}],
    ['from an instant on leaves them out', { gte: 5 }, { gte: 5, lt: NULL_UPDATED_KEY }],
    ['from the epoch on leaves them out', { gte: 0 }, { gte: 0, lt: NULL_UPDATED_KEY }],
    ['up to an instant leaves them out', { lt: 9 }, { lt: 9 }],
    ['up to the epoch leaves them out', { lt: 0 }, { lt: 0 }],
    ['between two instants leaves them out', { gte: 5, lt: 9 }, { gte: 5, lt: 9 }],
    ['up to their key leaves them out', { lt: NULL_UPDATED_KEY }, { lt: NULL_UPDATED_KEY }],
    ['beyond their key leaves them out', { lt: NULL_UPDATED_KEY + 1 }, { lt: NULL_UPDATED_KEY }],
  ])('%s', (_name, range, keys) => {
    expect(datedRange(range)).toStrictEqual(keys)
  })
})

describe('the key of an order without updated_at', () => {
  it('is exact in JSON, and after every date that there is', () => {
    expect(JSON.parse(String(NULL_UPDATED_KEY))).toBe(NULL_UPDATED_KEY)
    expect(Number.isSafeInteger(NULL_UPDATED_KEY)).toBe(true)
    expect(new Date(NULL_UPDATED_KEY + 1).getTime()).toBeNaN()
  })
})
