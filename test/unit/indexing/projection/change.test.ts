import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseChange } from '../../../../src/indexing/projection/change.ts'
import { sourceOrders } from '../../../support/orders/arbitraries.ts'
import {
  changeOf,
  orderWith,
  validationErrorOf,
  wholeOrder,
} from '../../../support/orders/changes.ts'
import { confuseParser, QUOTE_TRACKING } from '../../../support/orders/escaped-names.ts'
import { sourceOrder, sourcePayment } from '../../../support/orders/source-order.ts'

const deletion = { id: 'ord_1', version: 3, owner_account_id: 'acc_1', deleted: true }
const payment = sourcePayment()
/** Fields whose format a surrogate does not violate. */
const FREE_TEXTS = new Set([
  ...['name', 'email', 'phone', 'line1', 'line2', 'line3', 'neighborhood', 'city', 'full_name'],
  ...['product_id', 'offer_id', 'plan_id', 'order_bump_id', 'code', 'description', 'user_agent'],
  ...['utm_source', 'utm_medium', 'utm_campaign', 'referer', 'order_parent_id', 'origin'],
])
const MAX = Number.MAX_SAFE_INTEGER

describe('readChange', () => {
  it('readChange returns the fields that the writer decides by', () => {
    const createdKey = Date.parse('2026-03-01T12:00:00Z')
    const order = expect.objectContaining({ id: 'ord_1' })
    expect(changeOf(sourceOrder())).toEqual({
      orderId: 'ord_1',
      version: 1,
      ownerAccountId: 'acc_1',
      deleted: false,
      createdKey,
      changedAt: Date.parse('2026-03-01T12:05:00Z'),
      lastPaymentId: 'pay_1',
      views: [{ accountId: 'acc_1', createdKey, order }],
      documentDropped: false,
    })
  })

  it('readChange accepts every order that matches the schema', () => {
    fc.assert(
      fc.property(sourceOrders, (source) => {
        expect(changeOf(source).orderId).toBe(source.id)
      }),
    )
  })

  it('readChange accepts an order with every field', () => {
    expect(changeOf(wholeOrder).views).toHaveLength(2)
  })

  it.each([
    ['absent', undefined],
    ['null', null],
  ])('readChange reads a changed_at that is %s as no initial fill yet', (_name, value) => {
    expect(changeOf(orderWith('/changed_at', value)).changedAt).toBeNull()
  })

  it.each([
    ['false', false],
    ['null', null],
    ['absent', undefined],
  ])('readChange accepts an order whose deleted is %s', (_name, value) => {
    expect(changeOf(orderWith('/deleted', value)).deleted).toBe(false)
  })

  it('readChange accepts an order with 100 co-producers and projects a view for each', () => {
    const accounts = Array.from({ length: 100 }, (_, n) => `acc_of_${n}`)
    expect(changeOf(orderWith('/coproducer_account_ids', accounts)).views).toHaveLength(101)
  })

  it('readChange reads instants in any zone and truncates them to milliseconds', () => {
    const source = sourceOrder({
      created_at: '2026-03-01T09:00:00.1239-03:00',
      changed_at: '2026-03-01T09:00:00.9999999-03:00',
    })
    const { createdKey, changedAt } = changeOf(source)
    expect([createdKey, changedAt]).toEqual([
      Date.parse('2026-03-01T12:00:00.123Z'),
      Date.parse('2026-03-01T12:00:00.999Z'),
    ])
  })

  it('readChange replaces lone surrogates in every text and key of every view', () => {
    const half = (text: string) => `${text}\ud83d`
    const source = JSON.parse(JSON.stringify(wholeOrder), (name, value) =>
      typeof value === 'string' && FREE_TEXTS.has(name) ? half(value) : value,
    )
    const { views } = changeOf({
      ...source,
      tracking: { [half('src')]: half('bio'), '\udf00': '' },
    })
    expect(views.map(({ order }) => order.tracking)).toEqual([
      { 'src\ufffd': 'bio\ufffd', '\ufffd': '' },
      null,
    ])
    for (const { order } of views) {
      expect(order.customer.name).toMatch(/.\ufffd$/)
      expect(order.items[0]?.product_id).toMatch(/.\ufffd$/)
      expect(JSON.stringify(order)).not.toMatch(/\\ud[89a-f]/)
    }
  })

  it('readChange keeps whole emoji and escaped backslashes', () => {
    const tracking = { src: '🛒 \\ud83d' }
    const escaped = JSON.stringify(sourceOrder({ tracking })).replace('🛒', '\\ud83d\\uded2')
    expect(changeOf(JSON.parse(escaped)).views[0]?.order.tracking).toEqual(tracking)
    const change = parseChange(escaped)
    expect('views' in change && change.views[0]?.order.tracking).toEqual(tracking)
  })

  it('readChange drops unknown fields', () => {
    const strange = { ...sourceOrder(), ip: '10.0.0.1', internal: { cost: 1 } }
    expect(changeOf(strange)).toEqual(changeOf(sourceOrder()))
  })

  it('readChange keeps a tracking key of 8,192 characters', () => {
    const tracking = { ['x'.repeat(8_192)]: 'y' }
    expect(changeOf(sourceOrder({ tracking })).views[0]?.order.tracking).toEqual(tracking)
  })

  it('readChange keeps a tracking key __proto__', () => {
    const line = JSON.stringify(sourceOrder({ tracking: { a: 'b' } }))
    const result = parseChange(line.replace('"a":"b"', '"__proto__":"x"'))
    expect(JSON.stringify(result)).toContain('"tracking":{"__proto__":"x"}')
  })

  it('readChange reports a dropped customer document', () => {
    const change = changeOf(orderWith('/customer/document', '123'))
    expect(change.documentDropped).toBe(true)
  })
})

describe('the validation of an order', () => {
  it('readChange keeps the tracking keys of a line, even where V8 confuses names with escapes', () => {
    confuseParser()
    const { views } = changeOf(sourceOrder({ tracking: QUOTE_TRACKING }))
    expect(Object.entries(views[0]?.order.tracking ?? {})).toEqual(Object.entries(QUOTE_TRACKING))
  })

  it.each([
    ['/id', `ord_${'x'.repeat(60)}`],
    ['/id', 'ord_-'],
    ['/version', MAX],
    ['/owner_account_id', 'a'.repeat(64)],
    ['/coproducer_account_ids', []],
    ['/coproducer_account_ids', ['acc_2', 'acc_2', 'acc_1']],
    ['/amount_total', 0],
    ['/amount_total', MAX],
    ['/items', []],
    ['/items/0/quantity', 1],
    ['/payments/0/installments', 1],
    ['/payments/0/card', { last4: '0000' }],
    ['/promocode/amount', 0],
    ['/promocode/amount', -MAX],
    ['/tracking', Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, '']))],
    ['/tracking', {}],
    ['/utm', {}],
    ['/metadata', {}],
    ['/metadata/currency_rate', 0.000001],
    ['/customer/name', ''],
  ])('readChange accepts %s %j', (pointer, value) => {
    expect(changeOf(orderWith(pointer, value)).views).not.toEqual([])
  })

  it('readChange rejects an item that costs more than 2^53 − 1 cents', () => {
    const [item] = sourceOrder().items
    const items = [item, { ...item, quantity: 2, unit_price: MAX }]
    expect(validationErrorOf({ ...sourceOrder(), items })).toEqual({
      path: '/items/1',
      reason: expect.stringContaining('2^53'),
    })
  })

  it.each(['amount', 'interest_amount', 'discount_amount', 'fee', 'amount_refunded'])(
    'readChange rejects a split payment whose %s adds up to more than 2^53 − 1 cents',
    (field) => {
      const part = { ...payment, split_group: 'g1' }
      const payments = [
        { ...part, id: 'pay_1', [field]: MAX },
        { ...part, id: 'pay_2', [field]: 1 },
      ]
      expect(validationErrorOf({ ...sourceOrder(), payments }).path).toBe('/payments')
    },
  )

  it('readChange accepts a total of exactly 2^53 − 1 cents', () => {
    const part = { ...payment, split_group: 'g1' }
    const payments = [
      { ...part, id: 'pay_1', amount: MAX - 1 },
      { ...part, id: 'pay_2', amount: 1 },
    ]
    expect(changeOf({ ...sourceOrder(), payments }).views[0]?.order.payment.amount).toBe(MAX)
  })
})

describe('the validation of a deletion', () => {
  it('a deletion needs only its four fields', () => {
    expect(changeOf(deletion)).toEqual({
      orderId: 'ord_1',
      version: 3,
      ownerAccountId: 'acc_1',
      deleted: true,
      createdKey: null,
      changedAt: null,
      lastPaymentId: null,
      views: [],
      documentDropped: false,
    })
  })

  it('a deletion is valid whatever its other fields have', () => {
    expect(changeOf({ ...deletion, payments: 'gone', customer: null })).toEqual(changeOf(deletion))
  })

  it.each(['id', 'version', 'owner_account_id'])(
    'readChange rejects a deletion without %s',
    (field) => {
      expect(validationErrorOf(orderWith(`/${field}`, undefined, deletion))).toEqual({
        path: `/${field}`,
        reason: 'is missing',
      })
    },
  )

  it('readChange rejects a deletion with an invalid id', () => {
    expect(validationErrorOf({ ...deletion, id: 'x' }).path).toBe('/id')
  })
})
