import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { projectOrder } from '../../../../src/indexing/projection/order-views.ts'
import {
  differingFilterColumns,
  hasSameContent,
  renderDocument,
} from '../../../../src/indexing/writer/order-document.ts'
import { formatInstant } from '../../../../src/lib/instant.ts'
import type { FilterGeneration } from '../../../../src/orders/filters/filter-generations.ts'
import { ORDER_SCHEMA_VERSION, type Order } from '../../../../src/orders/order.ts'
import { NULL_INSTANT_KEY } from '../../../../src/orders/order-store.ts'
import { sourceOrders } from '../../../support/orders/arbitraries.ts'
import {
  BACKSLASH_TRACKING,
  confuseParser,
  QUOTE_TRACKING,
} from '../../../support/orders/escaped-names.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'

const WRITE_TIMESTAMP = Date.parse('2026-05-01T00:00:00Z')
const CHANGED_AT = Date.parse('2026-03-01T12:05:00Z')
const [view] = projectOrder(sourceOrder({ tracking: { src: 'bio', a: '1' } })).views
if (view === undefined) throw new Error('the order is not visible')
const { order } = view

type UpdatedAt = number | null | 'write-timestamp'
const write = (updatedAt: UpdatedAt, of: Order = order) => ({
  accountId: 'acc_1',
  orderId: of.id,
  order: of,
  createdKey: Date.parse(of.created_at),
  updatedAt,
})
const stored = (updatedAt: UpdatedAt, of: Order = order) => {
  const document = renderDocument(write(updatedAt, of), WRITE_TIMESTAMP)
  return { ...document, orderId: of.id, json: Buffer.from(document.json) }
}

describe('renderDocument', () => {
  it('renderDocument writes the search keys and the schema version', () => {
    const { json: _, ...keys } = renderDocument(write(CHANGED_AT), WRITE_TIMESTAMP)
    expect(keys).toEqual({
      accountId: 'acc_1',
      id: 'ord_1',
      schemaVersion: ORDER_SCHEMA_VERSION,
      status: 'PAID',
      paymentMethod: 'PIX',
      createdKey: Date.parse('2026-03-01T12:00:00Z'),
      updatedKey: CHANGED_AT,
      writtenKey: WRITE_TIMESTAMP,
      filterKeys: {
        paid_key: NULL_INSTANT_KEY,
        customer_email: ['rita@exemplo.com.br'],
        customer_document: [],
        product_ids: ['prod_1'],
      },
    })
  })

  it.each<[string, UpdatedAt, number, string | null]>([
    [
      'the write timestamp of the bulk',
      'write-timestamp',
      WRITE_TIMESTAMP,
      '2026-05-01T00:00:00.000Z',
    ],
    ['the changed_at of history', CHANGED_AT, CHANGED_AT, '2026-03-01T12:05:00.000Z'],
    ['null, sorted last', null, 8_640_000_000_000_000, null],
    ['a date of 0', 0, 0, '1970-01-01T00:00:00.000Z'],
  ])('renderDocument sets updated_at to %s', (_name, updatedAt, key, shown) => {
    const { updatedKey, json } = renderDocument(write(updatedAt), WRITE_TIMESTAMP)
    expect([updatedKey, JSON.parse(json).updated_at]).toEqual([key, shown])
  })

  it('renderDocument sets written_key to the write timestamp, whatever the date', () => {
    const keys = ([null, 'write-timestamp', CHANGED_AT] as const).map((updatedAt) => {
      return renderDocument(write(updatedAt), WRITE_TIMESTAMP).writtenKey
    })
    expect(keys).toEqual([WRITE_TIMESTAMP, WRITE_TIMESTAMP, WRITE_TIMESTAMP])
  })

  it('renderDocument keeps the sequence of the keys of an order', () => {
    const { json } = renderDocument(write('write-timestamp'), WRITE_TIMESTAMP)
    expect(json).toBe(JSON.stringify({ ...order, updated_at: formatInstant(WRITE_TIMESTAMP) }))
  })
})

describe('hasSameContent', () => {
  it('hasSameContent distinguishes tracking keys, even where V8 confuses names with escapes', () => {
    confuseParser()
    const before = { ...order, tracking: { ...BACKSLASH_TRACKING, '\\': '1' } }
    const after = { ...order, tracking: QUOTE_TRACKING }
    expect(hasSameContent(stored('write-timestamp', before), after)).toBe(false)
  })

  it.each<[string, UpdatedAt]>([
    ['dated by its bulk', 'write-timestamp'],
    ['written as history', CHANGED_AT],
    ['without a date', null],
  ])('hasSameContent is true for the same order that was %s', (_name, updatedAt) => {
    expect(hasSameContent(stored(updatedAt), order)).toBe(true)
  })

  it('hasSameContent ignores the sequence of tracking parameters', () => {
    const other = { ...order, tracking: { a: '1', src: 'bio' } }
    expect(hasSameContent(stored('write-timestamp'), other)).toBe(true)
  })

  it.each<[string, Partial<Order>]>([
    ['another status', { status: 'REFUNDED' }],
    ['another amount', { amount_total: 9901 }],
    ['another payment', { payment: { ...order.payment, fee: 1 } }],
    ['another customer', { customer: { ...order.customer, phone: '1' } }],
    ['an additional tracking parameter', { tracking: { src: 'bio', a: '1', b: '2' } }],
    ['a missing tracking parameter', { tracking: { src: 'bio' } }],
    ['another tracking value', { tracking: { src: 'bio', a: '2' } }],
    ['no tracking', { tracking: null }],
    ['a tracking key __proto__', { tracking: JSON.parse('{"src":"bio","a":"1","__proto__":"x"}') }],
    ['an additional item', { items: [...order.items, ...order.items] }],
    ['another metadata', { metadata: { origin: 'checkout' } }],
    ['another role', { role: 'COPRODUCER' }],
  ])('hasSameContent is false for %s', (_name, change) => {
    expect(hasSameContent(stored('write-timestamp'), { ...order, ...change })).toBe(false)
  })

  it('hasSameContent is true exactly for the written content', () => {
    const orders = sourceOrders.map((source) => projectOrder(source).views[0]?.order ?? order)
    fc.assert(
      fc.property(orders, orders, (one, other) => {
        expect(hasSameContent(stored('write-timestamp', one), one)).toBe(true)
        const isSame = JSON.stringify(one) === JSON.stringify(other)
        expect(hasSameContent(stored(null, one), other)).toBe(isSame)
      }),
    )
  })
})

describe('differingFilterColumns', () => {
  const { filterKeys } = stored(CHANGED_AT)
  const { paid_key, customer_email, customer_document } = filterKeys
  const generations: FilterGeneration[] = [
    { alias: 'one', marker: 'paid_key', columns: ['paid_key', 'customer_email'] },
    { alias: 'two', marker: 'texts', columns: ['customer_document', 'product_ids'] },
  ]

  it.each([
    ['of this release', filterKeys, []],
    ['of the last release', { paid_key, customer_email }, []],
    ['of the first release', {}, []],
    [
      'without one column of a generation',
      { paid_key, customer_document },
      ['customer_email', 'product_ids'],
    ],
    ['with another value', { ...filterKeys, paid_key: 1 }, ['paid_key']],
  ])('differingFilterColumns of a document %s', (_document, keys, expected) => {
    expect(differingFilterColumns(order, keys, generations)).toEqual(expected)
  })
})
