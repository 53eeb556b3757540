import { describe, expect, it } from 'vitest'
import {
  differences,
  type ExportRequest,
  initialState,
  parseState,
} from '../../../../src/orders-cli/export/part-state.ts'

const request: ExportRequest = {
  url: 'https://api.exemplo.com.br',
  filters: { status: 'PAID' },
  format: 'csv',
  rows: 'orders',
}
const initial = initialState(request)

describe('the state of an export', () => {
  it('the state of an export is parsed as written', () => {
    const state = { ...initial, cursor: 'abc', bytes: 10, orders: 1 }
    expect(parseState(JSON.stringify(state))).toEqual(state)
  })

  it.each([
    ['nothing', ''],
    ['a truncated line', JSON.stringify(initial).slice(0, 30)],
    ['null', 'null'],
    ['another object', '{"name":"x"}'],
    ['a later version', JSON.stringify({ ...initial, version: 2 })],
    ['a non-numeric byte count', JSON.stringify({ ...initial, bytes: 'many' })],
    ['a cursor that is not text', JSON.stringify({ ...initial, cursor: 5 })],
  ])('the state of an export is null for %s', (_what, text) => {
    expect(parseState(text)).toBeNull()
  })
})

describe('the options of an export', () => {
  it('the options of an export are the same in any order of the filters', () => {
    const one = { ...request, filters: { status: 'PAID', sort: 'updated_at_asc' } }
    const other = { ...request, filters: { sort: 'updated_at_asc', status: 'PAID' } }
    expect(differences(one, other)).toEqual([])
  })

  it.each<[string, Partial<ExportRequest>, string]>([
    ['format', { format: 'csv-br' }, '--format era csv, agora é csv-br'],
    ['rows', { rows: 'items' }, '--rows era orders, agora é items'],
    ['filter', { filters: { status: 'UNPAID' } }, '--status era PAID, agora é UNPAID'],
    ['missing filter', { filters: {} }, '--status era PAID, agora é nenhum'],
    [
      'further filter',
      { filters: { status: 'PAID', payment_method: 'PIX' } },
      '--payment-method era nenhum, agora é PIX',
    ],
  ])('the options of an export differ by another %s', (_what, other, text) => {
    expect(differences(request, { ...request, ...other })).toEqual([text])
  })
})
