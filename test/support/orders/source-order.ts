import type { SourceOrder, SourcePayment } from '../../../src/indexing/projection/source-order.ts'

/** A paid PIX payment, the only one of {@link sourceOrder}. */
export function sourcePayment(overrides: Partial<SourcePayment> = {}): SourcePayment {
  return {
    id: 'pay_1',
    created_at: '2026-03-01T12:00:01Z',
    method: 'PIX',
    status: 'PAID',
    amount: 9900,
    interest_amount: 0,
    discount_amount: 0,
    fee: 690,
    ...overrides,
  }
}

/** A valid paid PIX order of `acc_1` without optional fields, except a first `changed_at`. */
export function sourceOrder(overrides: Partial<SourceOrder> = {}): SourceOrder {
  return {
    id: 'ord_1',
    version: 1,
    owner_account_id: 'acc_1',
    changed_at: '2026-03-01T12:05:00Z',
    status: 'PAID',
    amount_total: 9900,
    created_at: '2026-03-01T12:00:00Z',
    customer: { name: 'Rita Lima', email: 'rita@exemplo.com.br' },
    payments: [sourcePayment()],
    items: [{ product_id: 'prod_1', name: 'Curso de cavaquinho', quantity: 1, unit_price: 9900 }],
    ...overrides,
  }
}
