import type { SourceOrder, SourcePayment } from '../../indexing/projection/source-order.ts'
import { BOLETO, CARD, EXAMPLE_ACCOUNT, history, ORDER, PIX } from './base-order.ts'

// Source orders of the examples: single ones of the API, and histories of the webhooks, each oldest
// first.

const paidAt = '2026-03-01T12:04:10Z'
const paidPix: SourcePayment = { ...PIX, status: 'PAID' }

/** A PIX order: paid, corrected, refunded in part, disputed, won, refunded. */
export const pixOrder = history(
  {},
  { changed_at: '2026-03-01T12:04:11Z', status: 'PAID', paid_at: paidAt, payments: [paidPix] },
  {
    changed_at: '2026-03-01T15:30:00Z',
    customer: { ...ORDER.customer, email: 'ana.souza@exemplo.com.br' },
  },
  {
    changed_at: '2026-03-02T09:00:00Z',
    payments: [
      {
        ...paidPix,
        status: 'PARTIALLY_REFUNDED',
        amount_refunded: 3000,
        refunded_at: '2026-03-02T09:00:00Z',
      },
    ],
  },
  {
    changed_at: '2026-03-10T08:00:00Z',
    status: 'DISPUTED',
    payments: [{ ...paidPix, status: 'DISPUTED', amount_refunded: 3000 }],
  },
  {
    changed_at: '2026-03-20T17:00:00Z',
    status: 'PAID',
    payments: [{ ...paidPix, status: 'PARTIALLY_REFUNDED', amount_refunded: 3000 }],
  },
  {
    changed_at: '2026-03-21T10:00:00Z',
    status: 'REFUNDED',
    payments: [
      {
        ...paidPix,
        status: 'REFUNDED',
        amount_refunded: 9900,
        refunded_at: '2026-03-21T10:00:00Z',
      },
    ],
  },
)

/** A PIX order, paid. */
export const paidPixOrder: SourceOrder = {
  ...ORDER,
  changed_at: '2026-03-01T12:04:11Z',
  status: 'PAID',
  paid_at: paidAt,
  payments: [paidPix],
}

const DECLINE = { decline_code: 'AB-0051', decline_message: 'Saldo insuficiente' }

/** A card in three installments, declined at checkout, with coupon and delivery address. */
export const declinedOrder: SourceOrder = {
  ...ORDER,
  id: 'ord_5eF6gH7iJ8kL9mN0',
  changed_at: '2026-03-01T12:00:03Z',
  status: 'UNPAID',
  amount_total: 8910,
  amount_in_brl: 8910,
  shipping_address: {
    line1: 'Rua das Flores',
    line2: '100',
    line3: 'apto 12',
    neighborhood: 'Centro',
    city: 'Curitiba',
    state: 'PR',
    country: 'BR',
    postal_code: '80010000',
    full_name: 'Ana Souza',
  },
  promocode: { code: 'MARCO10', description: '10% em março', amount: -990 },
  payments: [
    {
      ...CARD,
      ...DECLINE,
      id: 'pay_9',
      status: 'DECLINED',
      installments: 3,
      amount: 8910,
      discount_amount: 990,
      fee: 0,
    },
  ],
}

/** The paid PIX order of another account, in which the example account is a co-producer. */
export const coproducedOrder: SourceOrder = {
  ...paidPixOrder,
  id: 'ord_6fG7hI8jK9lM0nO1',
  owner_account_id: 'acc_2',
  coproducer_account_ids: [EXAMPLE_ACCOUNT],
}

const trial: SourcePayment = { ...CARD, id: 'pay_2', status: 'TRIAL', amount: 0, fee: 0 }
const firstCharge: SourcePayment = { ...CARD, id: 'pay_3', created_at: '2026-03-08T12:00:00Z' }
const renewal: SourcePayment = { ...CARD, id: 'pay_4', created_at: '2026-04-08T12:00:00Z' }
const declined: SourcePayment = {
  ...CARD,
  id: 'pay_5',
  created_at: '2026-05-08T12:00:00Z',
  status: 'DECLINED',
  ...DECLINE,
}

/** A subscription: trial, first charge, renewal, declined renewal. */
export const subscription = history(
  {
    id: 'ord_2bC3dE4fG5hI6jK7',
    status: 'TRIAL',
    amount_total: 0,
    amount_subtotal: 0,
    amount_in_brl: 0,
    payments: [trial],
  },
  {
    changed_at: '2026-03-08T12:00:03Z',
    status: 'PAID',
    paid_at: '2026-03-08T12:00:02Z',
    amount_total: 9900,
    amount_subtotal: 9900,
    amount_in_brl: 9900,
    payments: [trial, firstCharge],
  },
  { changed_at: '2026-04-08T12:00:03Z', payments: [trial, firstCharge, renewal] },
  {
    changed_at: '2026-05-08T12:00:03Z',
    status: 'UNPAID',
    payments: [trial, firstCharge, renewal, declined],
  },
)

/** A boleto that expires. */
export const boletoOrder = history(
  { id: 'ord_3cD4eF5gH6iJ7kL8', payments: [BOLETO] },
  {
    changed_at: '2026-03-05T03:00:00Z',
    status: 'UNPAID',
    payments: [{ ...BOLETO, status: 'UNPAID' }],
  },
)

const half = { amount: 4950, fee: 345, split_group: 'split_1' }
const firstPart: SourcePayment = { ...PIX, ...half, id: 'pay_7', status: 'PAID' }
const secondPart: SourcePayment = {
  ...PIX,
  ...half,
  id: 'pay_8',
  created_at: '2026-03-01T12:02:00Z',
}

/** A split payment whose second part never arrives. */
export const splitOrder = history(
  { id: 'ord_4dE5fG6hI7jK8lM9', payments: [firstPart, secondPart] },
  {
    changed_at: '2026-03-01T12:20:01Z',
    status: 'CANCELED',
    canceled_at: '2026-03-01T12:20:00Z',
    payments: [
      {
        ...firstPart,
        status: 'REFUNDED',
        amount_refunded: 4950,
        refunded_at: '2026-03-01T12:20:01Z',
      },
      { ...secondPart, status: 'UNPAID' },
    ],
  },
)
