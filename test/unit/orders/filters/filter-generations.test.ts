import { expect, it } from 'vitest'
import {
  filterColumns,
  filterGenerations,
} from '../../../../src/orders/filters/filter-generations.ts'
import { lookupColumns } from '../../../../src/orders/lookups.ts'

it('a released generation of filters never changes: documents of its release have these columns', () => {
  expect(filterGenerations.slice(0, 1)).toEqual([
    {
      alias: 'filterable',
      marker: 'paid_key',
      columns: ['paid_key', 'customer_email', 'customer_document', 'product_ids'],
    },
  ])
})

it('every column of exact texts is in one generation of filters', () => {
  expect(filterColumns).toEqual(expect.arrayContaining([...lookupColumns]))
  expect(new Set(filterColumns).size).toBe(filterColumns.length)
})

it('each generation of filters has an alias and a marker of its own', () => {
  const names = filterGenerations.flatMap(({ alias, marker }) => [alias, marker])
  expect(new Set(names).size).toBe(2 * filterGenerations.length)
})
