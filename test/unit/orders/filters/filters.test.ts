import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { orderFilters } from '../../../../src/orders/filters/filter-table.ts'
import type { Filter } from '../../../../src/orders/filters/filter-types.ts'
import { canonicalFilters, noFilters } from '../../../../src/orders/filters/filters.ts'
import { listings } from '../../../support/orders/arbitraries.ts'

const NONE = noFilters

describe('canonicalFilters', () => {
  it('returns a fixed place for every filter of the first release', () => {
    expect(canonicalFilters(NONE)).toEqual([[], [], [null, null], [null, null]])
  })

  it('returns values in the order of the table and without duplicates', () => {
    const filters = { ...NONE, statuses: ['PAID', 'UNPAID', 'PAID'] }
    expect(canonicalFilters(filters)[0]).toEqual(['UNPAID', 'PAID'])
  })

  const bound = { description: '', synonyms: [] }
  const added: Record<string, Filter> = {
    ...orderFilters,
    origins: {
      ...{ kind: 'enum', param: 'origin', column: 'origin', values: ['A', 'B'] },
      ...{ description: '', example: 'A', synonyms: [], isInEveryCursor: false },
      isPersonal: false,
    },
    shipped: {
      ...{ kind: 'range', column: 'shipped_key', isNullable: true, isInEveryCursor: false },
      isPersonal: false,
      gte: { ...bound, param: 'shipped_gte' },
      lt: { ...bound, param: 'shipped_lt' },
    },
  }

  it.each([
    ['absent', NONE],
    ['empty', { ...NONE, origins: [], shipped: {} }],
  ])('omits an added filter that is %s, so that existing cursors stay valid', (_state, filters) => {
    expect(canonicalFilters(filters, added)).toEqual(canonicalFilters(NONE))
  })

  it('names an added filter that is set', () => {
    const filters = { ...NONE, origins: ['B', 'A'], shipped: { lt: 7 } }
    expect(canonicalFilters(filters, added)).toEqual([
      ...canonicalFilters(NONE),
      { origins: ['A', 'B'] },
      { shipped: [null, 7] },
    ])
  })
})

it('the generated listings of test/support/orders/arbitraries.ts have every parameter of a filter', () => {
  const samples = fc.sample(listings, { numRuns: 500, seed: 1 })
  const given = samples.flatMap(({ filters }) =>
    Object.entries(filters).flatMap(([name, value]) =>
      Object.keys(value).map((key) => (Array.isArray(value) ? name : `${name}.${key}`)),
    ),
  )
  const known = Object.entries<Filter>(orderFilters).flatMap(([name, filter]) => {
    if (filter.kind !== 'range') return [name]
    return ['gte', 'lt', 'orNull'].filter((key) => key in filter).map((key) => `${name}.${key}`)
  })
  const missing = known.filter((parameter) => !given.includes(parameter))
  expect(missing, 'generate these in listings').toEqual([])
})
