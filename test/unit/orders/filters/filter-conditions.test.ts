import { describe, expect, it } from 'vitest'
import { filterConditions } from '../../../../src/orders/filters/filter-conditions.ts'
import { noFilters } from '../../../../src/orders/filters/filters.ts'
import { NULL_INSTANT_KEY } from '../../../../src/orders/order-store.ts'

describe('filterConditions', () => {
  it('returns no condition without filters', () => {
    expect(filterConditions(noFilters)).toEqual([])
  })

  it('returns the conditions of the filters that are set, in the order of the table', () => {
    const filters = {
      ...noFilters,
      ...{ statuses: ['PAID'] as const, paymentMethods: ['PIX'] as const },
      ...{ created: { gte: 1 }, updated: { lt: 2 } },
    }
    expect(filterConditions(filters)).toEqual([
      { column: 'status', values: ['PAID'] },
      { column: 'payment_method', values: ['PIX'] },
      { column: 'created_key', range: { gte: 1 } },
      { column: 'updated_key', range: { lt: 2 } },
    ])
  })
})

describe('a filter on updated_at', () => {
  it.each([
    ['without bounds includes undated orders', {}, {}],
    ['from an instant on excludes undated orders', { gte: 5 }, { gte: 5, lt: NULL_INSTANT_KEY }],
    ['from the epoch on excludes undated orders', { gte: 0 }, { gte: 0, lt: NULL_INSTANT_KEY }],
    ['up to an instant excludes undated orders', { lt: 9 }, { lt: 9 }],
    ['up to the epoch excludes undated orders', { lt: 0 }, { lt: 0 }],
    ['between two instants excludes undated orders', { gte: 5, lt: 9 }, { gte: 5, lt: 9 }],
    ['up to their key excludes undated orders', { lt: NULL_INSTANT_KEY }, { lt: NULL_INSTANT_KEY }],
    [
      'beyond their key excludes undated orders',
      { lt: NULL_INSTANT_KEY + 1 },
      { lt: NULL_INSTANT_KEY },
    ],
    ['from an instant on, or undated', { gte: 5, orNull: true }, { gte: 5 }],
  ] as const)('a filter on updated_at %s', (_name, updated, range) => {
    const filters = { ...noFilters, updated }
    const column = 'updated_key'
    const expected = Object.keys(range).length === 0 ? [] : [{ column, range }]
    expect(filterConditions(filters)).toStrictEqual(expected)
  })

  it.each([
    ['up to an instant, or undated', { lt: 9 }],
    ['between two instants, or undated', { gte: 5, lt: 9 }],
  ])('a filter on updated_at %s', (_name, range) => {
    const updated = { ...range, orNull: true } as const
    const filters = { ...noFilters, updated }
    expect(filterConditions(filters)).toStrictEqual([
      { column: 'updated_key', range, orKey: NULL_INSTANT_KEY },
    ])
  })
})
