import { FormatRegistry, type Static, type TSchema, Type } from '@sinclair/typebox'
import { accountIdPattern, ownerIdPattern } from '../../auth/account-ids.ts'
import { parseInstant } from '../../lib/instant.ts'
import { orderIdPattern } from '../../orders/order.ts'
import { orderStatuses, paymentStatuses, singlePaymentMethods } from '../../orders/order-values.ts'
import {
  offerIdPattern,
  orderBumpIdPattern,
  planIdPattern,
  productIdPattern,
} from '../../orders/schema/items.ts'
import { declineCodePattern } from '../../orders/schema/payment.ts'

/**
 * The order as the platform sends it, one JSON object a line. `expected` completes the reason
 * "expected …" of a rejected value. Unknown fields are dropped. Absent optional fields equal null.
 */

FormatRegistry.Set('instant', (text) => typeof parseInstant(text) === 'object')

const MAX_TRACKING_KEYS = 1000
/** Each costs a document, and a bulk has all documents of an order. Duplicates count. */
const MAX_COPRODUCERS = 100

const optional = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
const oneOf = <T extends string>(values: readonly T[]) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { expected: `one of ${values.join(', ')}` },
  ) as unknown as ReturnType<typeof Type.Unsafe<T>>
const integerFrom = (minimum: number) =>
  Type.Integer({
    minimum,
    maximum: Number.MAX_SAFE_INTEGER,
    expected: `an integer from ${minimum} to 2^53 − 1`,
  })
const matching = (pattern: string, expected: string) => Type.String({ pattern, expected })

const Text = Type.String({ expected: 'a text' })
const Cents = integerFrom(0)
const Instant = Type.String({
  format: 'instant',
  expected: 'an RFC 3339 date-time with time and zone, such as 2026-03-01T12:00:00Z',
})
const Currency = matching('^[A-Z]{3}$', 'a currency code of three capital letters, such as BRL')
const OrderId = matching(orderIdPattern, '"ord_" and 1 to 60 letters, digits, "_" or "-"')
const AccountId = matching(accountIdPattern, '1 to 64 letters, digits, "_" or "-"')
const OwnerId = matching(ownerIdPattern, '1 to 64 letters, digits, "_" or "-"')
const OfferId = matching(offerIdPattern, 'a text that begins with "prod_offer_"')

const Customer = Type.Object({
  name: Text,
  email: Text,
  phone: optional(Text),
  document: optional(Text),
})

const ShippingAddress = Type.Object({
  line1: Text,
  line2: Text,
  line3: optional(Text),
  neighborhood: Text,
  city: Text,
  state: Text,
  country: Text,
  postal_code: Text,
  full_name: optional(Text),
})

const SourcePayment = Type.Object({
  id: matching('.', 'a text that is not empty'),
  created_at: Instant,
  split_group: optional(matching('.', 'a text that is not empty')),
  method: oneOf(singlePaymentMethods),
  status: oneOf(paymentStatuses),
  installments: optional(integerFrom(1)),
  amount: Cents,
  interest_amount: Cents,
  discount_amount: Cents,
  fee: Cents,
  amount_refunded: optional(Cents),
  refunded_at: optional(Instant),
  decline_code: optional(
    matching(declineCodePattern, 'two capital letters, a hyphen, four digits, such as AB-0051'),
  ),
  decline_message: optional(Text),
  card: optional(
    Type.Object({
      brand: optional(Text),
      last4: matching('^\\d{4}$', 'four digits'),
    }),
  ),
})
export type SourcePayment = Static<typeof SourcePayment>

const SourceItem = Type.Object({
  product_id: matching(productIdPattern, 'a text that begins with "prod_"'),
  name: Text,
  quantity: integerFrom(1),
  unit_price: Cents,
  currency: optional(Currency),
  offer_id: optional(OfferId),
  plan_id: optional(matching(planIdPattern, 'a text that begins with "prod_offer_plan_"')),
  order_bump_id: optional(matching(orderBumpIdPattern, 'a text that begins with "ob_"')),
})
export type SourceItem = Static<typeof SourceItem>

const SourceNavigator = Type.Object({ user_agent: optional(Text), referer: optional(Text) })
export type SourceNavigator = Static<typeof SourceNavigator>

/** The fields of every line, and the only ones of a deletion. */
const VersionFields = {
  id: OrderId,
  version: integerFrom(1),
  owner_account_id: OwnerId,
}

export const SourceDeletion = Type.Object({ ...VersionFields, deleted: Type.Literal(true) })
export type SourceDeletion = Static<typeof SourceDeletion>

export const SourceOrder = Type.Object({
  ...VersionFields,
  deleted: Type.Optional(
    Type.Union([Type.Literal(false), Type.Null()], { expected: 'true or false' }),
  ),
  coproducer_account_ids: optional(
    Type.Array(AccountId, {
      maxItems: MAX_COPRODUCERS,
      expected: `a list of at most ${MAX_COPRODUCERS} accounts, duplicates counted`,
    }),
  ),
  changed_at: optional(Instant),
  status: oneOf(orderStatuses),
  currency: optional(Currency),
  amount_total: Cents,
  amount_subtotal: optional(Cents),
  amount_in_brl: optional(Cents),
  created_at: Instant,
  paid_at: optional(Instant),
  canceled_at: optional(Instant),
  customer: Customer,
  shipping_address: optional(ShippingAddress),
  payments: Type.Array(SourcePayment, { minItems: 1, expected: 'a list of at least one payment' }),
  items: Type.Array(SourceItem),
  offer: optional(Type.Object({ id: OfferId, name: Text })),
  promocode: optional(
    Type.Object({
      code: Text,
      description: optional(Text),
      amount: Type.Integer({
        minimum: Number.MIN_SAFE_INTEGER,
        maximum: 0,
        expected: 'a negative integer of cents, or 0',
      }),
    }),
  ),
  utm: optional(
    Type.Object({
      utm_source: optional(Text),
      utm_medium: optional(Text),
      utm_campaign: optional(Text),
      utm_term: optional(Text),
      utm_content: optional(Text),
    }),
  ),
  // Not Type.Record: its pattern skips keys with a line break, and does not check their values.
  tracking: optional(
    Type.Unsafe<Record<string, string>>(
      Type.Object(
        {},
        {
          additionalProperties: Text,
          maxProperties: MAX_TRACKING_KEYS,
          expected: `a map of at most ${MAX_TRACKING_KEYS} texts`,
        },
      ),
    ),
  ),
  navigator: optional(SourceNavigator),
  metadata: optional(
    Type.Object({
      order_parent_id: optional(Text),
      origin: optional(Text),
      currency_rate: optional(Type.Number({ expected: 'a number' })),
    }),
  ),
})
export type SourceOrder = Static<typeof SourceOrder>
