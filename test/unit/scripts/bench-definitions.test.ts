import { describe, expect, it } from 'vitest'
import {
  BASE,
  definitionNames,
  definitionOf,
  indexSorts,
} from '../../../scripts/bench/definitions/definitions.ts'
import { indexFor, ONE_PER_SORT } from '../../../scripts/bench/definitions/report.ts'
import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'

const { 'sort.field': field, 'sort.order': order, ...unsorted } = ordersDefinition.settings

describe('the definitions that are compared', () => {
  it('are compared with the one that the service uses', () => {
    expect(indexSorts[BASE]).toEqual([[field, order]])
    expect(definitionOf(BASE)).toEqual({
      ...ordersDefinition,
      settings: { ...unsorted, 'sort.field': [field], 'sort.order': [order] },
    })
  })

  it('are one without an index sort', () => {
    expect(definitionOf('none')).toEqual({ ...ordersDefinition, settings: unsorted })
  })

  it('are one for each sort of the API, the way it goes', () => {
    expect(definitionOf('account+created')).toMatchObject({
      settings: {
        'sort.field': ['account_id', 'created_key', 'id'],
        'sort.order': ['asc', 'desc', 'desc'],
      },
    })
    expect(definitionOf('account+updated')).toMatchObject({
      settings: {
        'sort.field': ['account_id', 'updated_key', 'id'],
        'sort.order': ['asc', 'asc', 'asc'],
      },
    })
  })
})

describe('the index that answers a case', () => {
  it.each(definitionNames)('is that of the definition %s', (name) => {
    expect(indexFor(name, 'large updated 20')).toBe(name)
  })

  it('is that of its sort where there is one per sort', () => {
    expect(indexFor(ONE_PER_SORT, 'large created 20')).toBe('account+created')
    expect(indexFor(ONE_PER_SORT, 'small updated 100')).toBe('account+updated')
  })
})
