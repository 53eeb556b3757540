import { describe, expect, it } from 'vitest'
import { projectOrder } from '../../../../src/indexing/projection/order-views.ts'
import type { SourceOrder } from '../../../../src/indexing/projection/source-order.ts'
import type { Order } from '../../../../src/orders/order.ts'
import { wholeOrder } from '../../../support/orders/changes.ts'
import { sourceOrder, sourcePayment } from '../../../support/orders/source-order.ts'

const viewsOf = (overrides: Partial<SourceOrder> = {}, base = sourceOrder()) =>
  projectOrder({ ...base, ...overrides }).views

function ownersOrder(overrides: Partial<SourceOrder> = {}): Order {
  const [view] = viewsOf(overrides)
  if (view === undefined) throw new Error('the order is not visible')
  return view.order
}

const customer = (document: string | null) => ({
  name: 'Rita',
  email: 'r@exemplo.com.br',
  document,
})

describe('the views of an order', () => {
  const rolesOf = (overrides: Partial<SourceOrder>) =>
    viewsOf(overrides).map(({ accountId, order }) => [accountId, order.role])

  it.each<[string, string[] | null, string[][]]>([
    ['no co-producers', null, [['acc_1', 'OWNER']]],
    [
      'co-producers',
      ['acc_3', 'acc_2'],
      [
        ['acc_1', 'OWNER'],
        ['acc_3', 'COPRODUCER'],
        ['acc_2', 'COPRODUCER'],
      ],
    ],
    [
      'a co-producer named twice',
      ['acc_2', 'acc_2'],
      [
        ['acc_1', 'OWNER'],
        ['acc_2', 'COPRODUCER'],
      ],
    ],
    ['the owner named as co-producer', ['acc_1'], [['acc_1', 'OWNER']]],
  ])('the views of an order with %s have the expected roles', (_name, ids, roles) => {
    expect(rolesOf({ coproducer_account_ids: ids })).toEqual(roles)
  })

  it('the views differ only in role, tracking and navigator', () => {
    const [owner, coproducer] = viewsOf({}, wholeOrder)
    expect(coproducer?.order).toEqual({
      ...owner?.order,
      role: 'COPRODUCER',
      tracking: null,
      navigator: null,
    })
  })

  it('the views have updated_at null until the writer decides it', () => {
    expect(viewsOf({}, wholeOrder).map(({ order }) => order.updated_at)).toEqual([null, null])
  })
})

describe('visibility', () => {
  const failed = sourcePayment({ status: 'FAILED' })
  const later = { id: 'pay_2', created_at: '2026-03-01T13:00:00Z' }

  it.each([
    ['one payment failed', [failed]],
    ['all payments failed', [failed, { ...failed, ...later }]],
  ])('an order is not visible when %s', (_name, payments) => {
    expect(viewsOf({ payments, coproducer_account_ids: ['acc_2'] })).toEqual([])
  })

  it('an order whose last payment alone failed is visible', () => {
    const { payment } = ownersOrder({ payments: [sourcePayment(), { ...failed, ...later }] })
    expect(payment.status).toBe('FAILED')
  })

  it('an order whose first payment failed is visible', () => {
    expect(viewsOf({ payments: [failed, sourcePayment(later)] })).toHaveLength(1)
  })
})

describe('the document of the customer', () => {
  it.each([
    ['11144477735', '11144477735', 'CPF'],
    ['111.444.777-35', '11144477735', 'CPF'],
    [' 111 444 777 35 ', '11144477735', 'CPF'],
    ['111.444.777-35\r\n', '11144477735', 'CPF'],
    ['\ufeff111\u00a0444\u202f777\t35', '11144477735', 'CPF'],
    ...Array.from('‐‑‒–—―−﹘﹣－\u00ad\u200b', (hyphen) => [
      `111.444.777${hyphen}35`,
      '11144477735',
      'CPF',
    ]),
    ['11222333000181', '11222333000181', 'CNPJ'],
    ['11.222.333/0001-81', '11222333000181', 'CNPJ'],
    ['00000000000', '00000000000', 'CPF'],
    ['12.ABC.345/01DE-35', '12ABC34501DE35', 'CNPJ'],
    ['12ABC34501DE35', '12ABC34501DE35', 'CNPJ'],
    [' 12.abc.345/01de-35', '12ABC34501DE35', 'CNPJ'],
    ['11222333000199', '11222333000199', 'CNPJ'],
    ['12.ABC.345/01DE–35\n', '12ABC34501DE35', 'CNPJ'],
  ])('the customer document %j is %s, a %s', (given, document, document_type) => {
    expect(ownersOrder({ customer: customer(given) }).customer).toMatchObject({
      document,
      document_type,
    })
  })

  it.each([
    ...['1114447773', '111444777350', '1122233300018', '112223330001811', '123', 'ISENTO'],
    ...['111444777-3X', '١١١٤٤٤٧٧٧٣٥', '111_444_777_35', '1114447773\n', '12.ABC.345/01DE-36'],
    ...[
      '12.ABC.345/01DE-53',
      '12.ABC.354/01DE-35',
      '12ABC34501DE3X',
      '12ÁBC34501DE35',
      'ABCDEFGHIJKLMN',
    ],
  ])('the customer document %j is dropped and counted', (given) => {
    const { views, documentDropped } = projectOrder(sourceOrder({ customer: customer(given) }))
    expect(views[0]?.order.customer).toMatchObject({ document: null, document_type: null })
    expect(documentDropped).toBe(true)
  })

  it('an absent customer document is null and not counted', () => {
    const { views, documentDropped } = projectOrder(sourceOrder({ customer: customer(null) }))
    expect(views[0]?.order.customer).toMatchObject({ document: null, document_type: null })
    expect(documentDropped).toBe(false)
  })
})

describe('an item', () => {
  const item = { product_id: 'prod_1', name: 'Palheta', quantity: 3, unit_price: 250 }

  it('an item has a sub_total of unit_price times quantity, and BRL without a currency', () => {
    expect(ownersOrder({ items: [item] }).items).toEqual([
      {
        ...item,
        sub_total: 750,
        currency: 'BRL',
        offer_id: null,
        plan_id: null,
        order_bump_id: null,
      },
    ])
  })

  it('items keep their sequence', () => {
    const items = ['c', 'a', 'b'].map((name) => ({ ...item, name }))
    expect(ownersOrder({ items }).items.map(({ name }) => name)).toEqual(['c', 'a', 'b'])
  })
})

describe('an optional part', () => {
  const EMPTY_UTM = { utm_source: null, utm_medium: null, utm_campaign: null, utm_term: null }

  it.each<[string, Partial<SourceOrder>, Partial<Order>]>([
    ['an empty utm is null', { utm: {} }, { utm: null }],
    ['a utm of nulls is null', { utm: { utm_source: null, utm_term: null } }, { utm: null }],
    [
      'a utm has all five keys',
      { utm: { utm_content: 'a' } },
      { utm: { ...EMPTY_UTM, utm_content: 'a' } },
    ],
    ['an empty tracking is null', { tracking: {} }, { tracking: null }],
    ['an absent tracking is null', {}, { tracking: null }],
    ['tracking keeps empty texts', { tracking: { src: '' } }, { tracking: { src: '' } }],
    [
      'tracking keeps a name that every object inherits',
      { tracking: Object.fromEntries([['__proto__', 'a']]) },
      { tracking: Object.fromEntries([['__proto__', 'a']]) },
    ],
    ['an absent metadata is an empty object', {}, { metadata: {} }],
    ['a metadata of nulls is an empty object', { metadata: { origin: null } }, { metadata: {} }],
    [
      'metadata keeps an exchange rate of 0',
      { metadata: { currency_rate: 0 } },
      { metadata: { currency_rate: 0 } },
    ],
    [
      'a promocode without description has null',
      { promocode: { code: 'SAMBA', amount: -100 } },
      { promocode: { code: 'SAMBA', description: null, amount: -100 } },
    ],
    ['an amount of 0 stays 0', { amount_subtotal: 0 }, { amount_subtotal: 0 }],
    [
      'an instant is in UTC with milliseconds',
      { paid_at: '2026-03-01T09:04:10-03:00' },
      { paid_at: '2026-03-01T12:04:10.000Z' },
    ],
    [
      'an instant is truncated to milliseconds',
      { canceled_at: '2026-03-01T12:00:00.9999Z' },
      { canceled_at: '2026-03-01T12:00:00.999Z' },
    ],
  ])('%s', (_name, given, shown) => {
    expect(ownersOrder(given)).toMatchObject(shown)
  })

  it('an address shows its absent optional fields as null', () => {
    const { line3: _, full_name: __, ...address } = wholeOrder.shipping_address ?? {}
    const shown = { ...address, line3: null, full_name: null }
    const given = { ...wholeOrder, shipping_address: address } as SourceOrder
    expect(viewsOf({}, given)[0]?.order.shipping_address).toEqual(shown)
  })
})
