import { describe, expect, it } from 'vitest'
import {
  type Asked,
  beginState,
  differences,
  parseState,
} from '../../../../src/orders-command/export/part-state.ts'

const asked: Asked = {
  url: 'https://api.exemplo.com.br',
  filters: { status: 'PAID' },
  format: 'csv',
  rows: 'orders',
}
const begun = beginState(asked)

describe('the state of an export', () => {
  it('is read as it was written', () => {
    const state = { ...begun, cursor: 'abc', bytes: 10, orders: 1 }
    expect(parseState(JSON.stringify(state))).toEqual(state)
  })

  it.each([
    ['nothing', ''],
    ['what was torn', JSON.stringify(begun).slice(0, 30)],
    ['null', 'null'],
    ['something else', '{"name":"x"}'],
    ['a later version', JSON.stringify({ ...begun, version: 2 })],
    ['bytes that are no number', JSON.stringify({ ...begun, bytes: 'many' })],
    ['a cursor that is no text', JSON.stringify({ ...begun, cursor: 5 })],
  ])('is none where there is %s', (_what, text) => {
    expect(parseState(text)).toBeNull()
  })
})

describe('what is asked', () => {
  it('is the same whatever the order of its filters', () => {
    const one = { ...asked, filters: { status: 'PAID', sort: 'updated_at_asc' } }
    const other = { ...asked, filters: { sort: 'updated_at_asc', status: 'PAID' } }
    expect(differences(one, other)).toEqual([])
  })

  it.each<[string, Partial<Asked>, string]>([
    ['format', { format: 'csv-br' }, '--format era csv, agora é csv-br'],
    ['rows', { rows: 'items' }, '--rows era orders, agora é items'],
    ['filter', { filters: { status: 'UNPAID' } }, '--status era PAID, agora é UNPAID'],
    ['missing filter', { filters: {} }, '--status era PAID, agora é nenhum'],
    [
      'further filter',
      { filters: { status: 'PAID', payment_method: 'PIX' } },
      '--payment-method era nenhum, agora é PIX',
    ],
  ])('differs by another %s', (_what, other, told) => {
    expect(differences(asked, { ...asked, ...other })).toEqual([told])
  })
})
