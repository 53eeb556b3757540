import type { SourceOrder, SourcePayment } from '../../indexing/projection/source-order.ts'

// The order and the payments that the examples vary.

export const EXAMPLE_ACCOUNT = 'acc_1'

export const PIX: SourcePayment = {
  id: 'pay_1',
  created_at: '2026-03-01T12:00:01Z',
  method: 'PIX',
  status: 'PENDING',
  amount: 9900,
  interest_amount: 0,
  discount_amount: 0,
  fee: 690,
}
export const BOLETO: SourcePayment = { ...PIX, method: 'BOLETO' }
export const CARD: SourcePayment = {
  ...PIX,
  method: 'CREDIT_CARD',
  status: 'PAID',
  installments: 1,
  card: { brand: 'VISA', last4: '4242' },
}

export const ORDER: SourceOrder = {
  id: 'ord_1aB2cD3eF4gH5iJ6',
  version: 1,
  owner_account_id: EXAMPLE_ACCOUNT,
  changed_at: '2026-03-01T12:00:01Z',
  status: 'AWAITING_PAYMENT',
  currency: 'BRL',
  amount_total: 9900,
  amount_subtotal: 9900,
  amount_in_brl: 9900,
  created_at: '2026-03-01T12:00:00Z',
  customer: {
    name: 'Ana Souza',
    email: 'ana@exemplo.com.br',
    phone: '+5511999990000',
    document: '12345678909',
  },
  payments: [PIX],
  items: [
    {
      product_id: 'prod_1',
      name: 'Curso de violão',
      quantity: 1,
      unit_price: 9900,
      offer_id: 'prod_offer_1',
    },
  ],
  offer: { id: 'prod_offer_1', name: 'Oferta principal' },
  utm: { utm_source: 'google', utm_medium: 'cpc', utm_campaign: 'marco' },
  tracking: { src: 'bio' },
  navigator: {
    user_agent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
    referer: 'https://www.instagram.com/p/1',
  },
  metadata: { origin: 'checkout' },
}

type Version = Partial<SourceOrder> & { changed_at: string }

/** The versions of one order, each with the differences to the one before. */
export function history(first: Partial<SourceOrder>, ...later: Version[]): SourceOrder[] {
  const versions: SourceOrder[] = [{ ...ORDER, ...first }]
  for (const differences of later) {
    const previous = versions.at(-1) ?? ORDER
    versions.push({ ...previous, ...differences, version: previous.version + 1 })
  }
  return versions
}
