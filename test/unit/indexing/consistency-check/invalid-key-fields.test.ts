import { describe, expect, it } from 'vitest'
import { keyFields } from '../../../../src/indexing/consistency-check/index-inspection.ts'
import { invalidKeyFields } from '../../../../src/indexing/consistency-check/invalid-key-fields.ts'
import { lookupColumns } from '../../../../src/orders/lookups.ts'
import { changeOf, orderWith, wholeOrder } from '../../../support/orders/changes.ts'
import { documentsOf, WRITE_TIMESTAMP } from './inspected-document.ts'

const [document] = documentsOf(changeOf(wholeOrder))
if (document === undefined) throw new Error('an order without documents')
const { address, keys, order } = document

describe('the key fields of a document', () => {
  it.each([
    ['dated', WRITE_TIMESTAMP],
    ['without a date', null],
  ])('the key fields are valid as they are written, %s', (_how, updatedAt) => {
    const faults = documentsOf(changeOf(wholeOrder), updatedAt).map(invalidKeyFields)
    expect(faults).toEqual([[], []])
  })

  it.each(keyFields)('the key fields are invalid without %s', (field) => {
    const { [field]: _, ...others } = keys
    expect(invalidKeyFields({ address, keys: others, order })).toEqual([field])
  })

  it.each(keyFields)('the key fields are invalid when %s has a wrong type', (field) => {
    expect(invalidKeyFields({ address, keys: { ...keys, [field]: [keys[field]] }, order })).toEqual(
      [field],
    )
  })

  it.each([
    ['account_id', 'acc_9'],
    ['id', 'ord_9'],
    ['status', 'REFUNDED'],
    ['payment_method', 'PIX'],
    ['created_key', 1],
    ['updated_key', 1],
    ['paid_key', 1],
    ['customer_email', ['Rita@exemplo.com.br']],
    ['product_ids', []],
  ])('the key fields are invalid when %s has another value', (field, value) => {
    expect(invalidKeyFields({ address, keys: { ...keys, [field]: value }, order })).toEqual([field])
  })

  it.each([
    ['/id', 'ord_9', 'id'],
    ['/status', 'REFUNDED', 'status'],
    ['/payment', null, 'payment_method'],
    ['/created_at', 'yesterday', 'created_key'],
    ['/updated_at', null, 'updated_key'],
    ['/customer/email', 'outra@exemplo.com.br', 'customer_email'],
    ['/items', [], 'product_ids'],
    ['/updated_at', undefined, 'updated_key'],
  ])('the key fields are invalid when %s inside is %s', (pointer, value, field) => {
    const other = orderWith(pointer, value, order)
    expect(invalidKeyFields({ address, keys, order: other })).toEqual([field])
  })

  it('the key fields of an earlier release are valid', () => {
    const earlier = Object.fromEntries(
      Object.entries(keys).filter(([name]) => !['paid_key', ...lookupColumns].includes(name)),
    )
    expect(invalidKeyFields({ address, keys: earlier, order })).toEqual([])
  })

  it.each([null, undefined, 'no order'])(
    'the key fields are invalid when the order inside is %s',
    (inside) => {
      expect(invalidKeyFields({ address, keys, order: inside })).toEqual([
        'id',
        'status',
        'payment_method',
        'created_key',
        'updated_key',
        'paid_key',
        ...lookupColumns,
      ])
    },
  )

  it.each([
    [{ accountId: 'acc_9', orderId: 'ord_1' }, ['account_id']],
    [{ accountId: 'acc_1', orderId: 'ord_9' }, ['id']],
    [{ accountId: '', orderId: 'x' }, ['account_id', 'id']],
  ])('the key fields are invalid when the document is stored as %j', (elsewhere, fields) => {
    expect(invalidKeyFields({ address: elsewhere, keys, order })).toEqual(fields)
  })
})
