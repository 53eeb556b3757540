import fc from 'fast-check'
import type {
  SourceItem,
  SourceOrder,
  SourcePayment,
} from '../../../src/indexing/projection/source-order.ts'
import { formatInstant } from '../../../src/lib/instant.ts'
import type { Listing, PagerState } from '../../../src/orders/cursor.ts'
import type { InstantRange, OrderFilters } from '../../../src/orders/filters/filters.ts'
import { type Position, sorts } from '../../../src/orders/order-store.ts'
import {
  cardBrands,
  orderStatuses,
  paymentMethods,
  paymentStatuses,
  singlePaymentMethods,
} from '../../../src/orders/order-values.ts'

const ID_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'
const idText = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...ID_LETTERS), minLength: 1, maxLength })

/** Epoch milliseconds of the years 0000 to 9999, the whole range of an instant. */
export const anyInstantMs = fc.integer({
  min: Date.parse('0000-01-01T00:00:00.000Z'),
  max: Date.parse('9999-12-31T23:59:59.999Z'),
})

export const accountIds = idText(64)
export const orderIds = idText(60).map((rest) => `ord_${rest}`)
export const positions: fc.Arbitrary<Position> = fc.record({ key: anyInstantMs, id: orderIds })

const nullablePosition = fc.option(positions)
export const pagerStates: fc.Arbitrary<PagerState> = fc.record({
  after: nullablePosition,
  dated: nullablePosition,
  mark: nullablePosition,
  nextMark: nullablePosition,
})

const instantRanges = fc.record({ gte: anyInstantMs, lt: anyInstantMs }, { requiredKeys: [] })
/** With or without the orders that have no instant, where the range has a bound. */
const rangesOrNull: fc.Arbitrary<InstantRange> = fc
  .tuple(instantRanges, fc.boolean())
  .map(([range, isOrNull]) =>
    isOrNull && Object.keys(range).length > 0 ? { ...range, orNull: true } : range,
  )
const texts = (...values: string[]) => fc.subarray(values)
const filters: fc.Arbitrary<OrderFilters> = fc.record({
  statuses: fc.subarray([...orderStatuses]),
  paymentMethods: fc.subarray([...paymentMethods]),
  created: instantRanges,
  updated: rangesOrNull,
  paid: instantRanges,
  productIds: texts('prod_1', 'prod_2', "prod_'"),
  customerEmails: texts('ana@exemplo.com.br', 'ana+1@exemplo.com.br'),
  customerDocuments: texts('12345678909', '12ABC34501DE35'),
})
export const listings: fc.Arbitrary<Listing> = fc.record({
  accountId: accountIds,
  sort: fc.constantFrom(...sorts),
  filters,
})

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const cents = fc.integer({ min: 0, max: 10_000_000 })
const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary)
const instants = fc
  .integer({ min: Date.parse('2024-01-01T00:00:00Z'), max: Date.parse('2026-12-31T00:00:00Z') })
  .map(formatInstant)
const prefixed = (prefix: string) => idText(8).map((rest) => prefix + rest)

export const sourcePayments: fc.Arbitrary<SourcePayment> = fc.record(
  {
    id: prefixed('pay_'),
    created_at: instants,
    method: fc.constantFrom(...singlePaymentMethods),
    status: fc.constantFrom(...paymentStatuses),
    amount: cents,
    interest_amount: cents,
    discount_amount: cents,
    fee: cents,
    split_group: nullable(fc.constantFrom('g1', 'g2')),
    installments: nullable(fc.integer({ min: 1, max: 12 })),
    amount_refunded: nullable(cents),
    refunded_at: nullable(instants),
    decline_code: nullable(fc.constantFrom('AB-0001', 'ZZ-9999')),
    decline_message: nullable(text),
    card: nullable(
      fc.record(
        {
          brand: nullable(fc.constantFrom<string>(...cardBrands, 'PADARIA')),
          last4: fc.constant('4242'),
        },
        { requiredKeys: ['last4'] },
      ),
    ),
  },
  {
    requiredKeys: [
      'id',
      'created_at',
      'method',
      'status',
      'amount',
      'interest_amount',
      'discount_amount',
      'fee',
    ],
  },
)

const sourceItems: fc.Arbitrary<SourceItem> = fc.record(
  {
    product_id: prefixed('prod_'),
    name: text,
    quantity: fc.integer({ min: 1, max: 99 }),
    unit_price: cents,
    currency: nullable(fc.constant('BRL')),
    offer_id: nullable(prefixed('prod_offer_')),
    plan_id: nullable(prefixed('prod_offer_plan_')),
    order_bump_id: nullable(prefixed('ob_')),
  },
  { requiredKeys: ['product_id', 'name', 'quantity', 'unit_price'] },
)

const customers: fc.Arbitrary<SourceOrder['customer']> = fc.record(
  {
    name: text,
    email: text,
    phone: nullable(text),
    document: nullable(fc.oneof(text, fc.constantFrom('123.456.789-09', '12345678000195'))),
  },
  { requiredKeys: ['name', 'email'] },
)

const addresses = fc.record(
  {
    line1: text,
    line2: text,
    line3: nullable(text),
    neighborhood: text,
    city: text,
    state: text,
    country: text,
    postal_code: text,
    full_name: nullable(text),
  },
  {
    requiredKeys: ['line1', 'line2', 'neighborhood', 'city', 'state', 'country', 'postal_code'],
  },
)

const utms = fc.record(
  {
    utm_source: nullable(text),
    utm_medium: nullable(text),
    utm_campaign: nullable(text),
    utm_term: nullable(text),
    utm_content: nullable(text),
  },
  { requiredKeys: [] },
)

/** Source orders that pass the schema, with every optional field absent, null or present. */
export const sourceOrders: fc.Arbitrary<SourceOrder> = fc.record(
  {
    id: orderIds,
    version: fc.integer({ min: 1, max: 1000 }),
    owner_account_id: fc.constantFrom('acc_1', 'acc_2', 'acc_3'),
    status: fc.constantFrom(...orderStatuses),
    amount_total: cents,
    created_at: instants,
    customer: customers,
    payments: fc.array(sourcePayments, { minLength: 1, maxLength: 4 }),
    items: fc.array(sourceItems, { maxLength: 3 }),
    changed_at: nullable(instants),
    coproducer_account_ids: nullable(fc.array(fc.constantFrom('acc_1', 'acc_2', 'acc_3', 'acc_4'))),
    currency: nullable(fc.constantFrom('BRL', 'USD')),
    amount_subtotal: nullable(cents),
    amount_in_brl: nullable(cents),
    paid_at: nullable(instants),
    canceled_at: nullable(instants),
    shipping_address: nullable(addresses),
    offer: nullable(fc.record({ id: prefixed('prod_offer_'), name: text })),
    promocode: nullable(
      fc.record(
        {
          code: text,
          description: nullable(text),
          amount: fc.integer({ min: -100_000, max: 0 }),
        },
        { requiredKeys: ['code', 'amount'] },
      ),
    ),
    utm: nullable(utms),
    tracking: nullable(fc.dictionary(text, text, { maxKeys: 5 })),
    navigator: nullable(
      fc.record({ user_agent: nullable(text), referer: nullable(text) }, { requiredKeys: [] }),
    ),
    metadata: nullable(
      fc.record(
        {
          order_parent_id: nullable(orderIds),
          origin: nullable(text),
          currency_rate: nullable(fc.double({ min: 0.01, max: 100, noNaN: true })),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  {
    requiredKeys: [
      'id',
      'version',
      'owner_account_id',
      'status',
      'amount_total',
      'created_at',
      'customer',
      'payments',
      'items',
    ],
  },
)
