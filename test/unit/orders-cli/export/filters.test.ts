import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  filterOptions,
  filtersOf,
  optionName,
  optionOf,
} from '../../../../src/orders-cli/export/filters.ts'

const file = new URL('../../../../openapi/openapi.json', import.meta.url)
const { parameters } = JSON.parse(readFileSync(file, 'utf8')).paths['/v1/orders'].get as {
  parameters: { name: string; in: string }[]
}

it('every filter of the API is an option', () => {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const filters = inQuery.map(({ name }) => name).filter((name) => !/^(limit|cursor)$/.test(name))
  const step = 'change the options in src/orders-cli/export/filters.ts'
  expect(Object.keys(filterOptions), step).toEqual(filters.map((name) => name.replaceAll('_', '-')))
})

it('the option of a parameter has a hyphen for each underscore', () => {
  expect(optionName('first_paid_gte')).toBe('first-paid-gte')
})

it('filters are sent as typed', () => {
  const text = { 'payment-method': 'PIX', 'created-gte': 'ontem' }
  expect(filtersOf(text, new Set(['include-undated', 'resume']))).toEqual({
    payment_method: 'PIX',
    created_gte: 'ontem',
    include_undated: true,
  })
})

it.each([
  ['payment_method', '--payment-method'],
  ['sort', '--sort'],
  ['cursor', null],
  ['id', null],
  [null, null],
])('the option behind the parameter %s is %s', (param, option) => {
  expect(optionOf(param)).toBe(option)
})
