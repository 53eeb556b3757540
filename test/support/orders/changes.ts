import {
  type Change,
  isValidationError,
  parseChange,
  type ValidationError,
} from '../../../src/indexing/projection/change.ts'
import { sourceOrder } from './source-order.ts'

/** Parses a line with this value, which must be valid. */
export function changeOf(value: unknown): Change {
  const result = parseChange(JSON.stringify(value))
  if (isValidationError(result)) throw new Error(`rejected: ${result.path}: ${result.reason}`)
  return result
}

/** The validation error of a line with this text. */
export function validationErrorOfText(json: string): ValidationError {
  const result = parseChange(json)
  if (!isValidationError(result)) throw new Error('expected a validation error')
  return result
}

export const validationErrorOf = (value: unknown): ValidationError =>
  validationErrorOfText(JSON.stringify(value))

/**
 * A clone of a source order with the value at a JSON pointer replaced (`undefined`: removed). It is
 * not typed as an order, because it may break the schema.
 */
export function orderWith(pointer: string, value: unknown, base: unknown = wholeOrder): unknown {
  const clone = structuredClone(base)
  const keys = pointer.slice(1).split('/')
  const last = keys.pop() ?? ''
  let inner: unknown = clone
  for (const key of keys) inner = Reflect.get(Object(inner), key)
  if (value === undefined) Reflect.deleteProperty(Object(inner), last)
  else Reflect.set(Object(inner), last, value)
  return clone
}

/** A source order with every existing field. */
export const wholeOrder = sourceOrder({
  coproducer_account_ids: ['acc_2'],
  currency: 'BRL',
  amount_subtotal: 9900,
  amount_in_brl: 9900,
  paid_at: '2026-03-01T12:04:10Z',
  canceled_at: null,
  customer: {
    name: 'Rita Lima',
    email: 'rita@exemplo.com.br',
    phone: '+5541988887777',
    document: '111.444.777-35',
  },
  shipping_address: {
    line1: 'Rua do Porto',
    line2: '7',
    line3: 'casa 2',
    neighborhood: 'Cais',
    city: 'Recife',
    state: 'PE',
    country: 'BR',
    postal_code: '50030000',
    full_name: 'Rita Lima',
  },
  payments: [
    {
      id: 'pay_1',
      created_at: '2026-03-01T12:00:01Z',
      split_group: null,
      method: 'CREDIT_CARD',
      status: 'DECLINED',
      installments: 3,
      amount: 9900,
      interest_amount: 120,
      discount_amount: 50,
      fee: 690,
      amount_refunded: 10,
      refunded_at: '2026-03-02T08:00:00Z',
      decline_code: 'AB-0051',
      decline_message: 'Saldo insuficiente',
      card: { brand: 'ELO', last4: '1881' },
    },
  ],
  items: [
    {
      product_id: 'prod_1',
      name: 'Curso de cavaquinho',
      quantity: 2,
      unit_price: 4950,
      currency: 'BRL',
      offer_id: 'prod_offer_1',
      plan_id: 'prod_offer_plan_1',
      order_bump_id: 'ob_1',
    },
  ],
  offer: { id: 'prod_offer_1', name: 'Oferta de março' },
  promocode: { code: 'SAMBA', description: 'Samba', amount: -50 },
  utm: {
    utm_source: 'radio',
    utm_medium: 'spot',
    utm_campaign: 'carnaval',
    utm_term: 'cavaco',
    utm_content: 'a',
  },
  tracking: { src: 'bio' },
  navigator: { user_agent: 'Mozilla/5.0', referer: 'https://www.exemplo.com.br/' },
  metadata: { order_parent_id: 'ord_0', origin: 'checkout', currency_rate: 5.25 },
})
