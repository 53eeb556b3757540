import { DEMO_ACCOUNT } from '../../src/demo/accounts.ts'
import type { SourceDeletion, SourceOrder } from '../../src/indexing/projection/source-order.ts'
import { formatInstant } from '../../src/lib/instant.ts'
import type { EventType } from '../../src/webhooks/events/event-types.ts'

/** A change of the demo order, and the events that it announces. */
export interface DemoStep {
  text: string
  source: SourceOrder | SourceDeletion
  events: readonly EventType[]
}

/** A PIX order that is created, paid and erased, at `nowMs`. */
export function demoSteps(nowMs: number): DemoStep[] {
  const now = formatInstant(nowMs)
  const id = `ord_webhook_demo_${nowMs}`
  const order: SourceOrder = {
    id,
    version: 1,
    owner_account_id: DEMO_ACCOUNT,
    changed_at: now,
    status: 'AWAITING_PAYMENT',
    currency: 'BRL',
    amount_total: 9900,
    amount_subtotal: 9900,
    amount_in_brl: 9900,
    created_at: now,
    customer: { name: 'Ana Souza', email: 'ana@exemplo.com.br' },
    payments: [
      {
        ...{ id: `pay_${nowMs}`, created_at: now, method: 'PIX', status: 'PENDING' },
        ...{ amount: 9900, interest_amount: 0, discount_amount: 0, fee: 690 },
      },
    ],
    items: [{ product_id: 'prod_demo', name: 'Curso de violão', quantity: 1, unit_price: 9900 }],
  }
  const payments = order.payments.map((payment) => ({ ...payment, status: 'PAID' as const }))
  return [
    {
      text: `wrote ${id}: a PIX that waits for its payment`,
      source: order,
      events: ['order.created', 'order.awaiting_payment'],
    },
    {
      text: 'wrote its next version: the PIX is paid',
      source: { ...order, version: 2, status: 'PAID', paid_at: now, payments },
      events: ['order.paid'],
    },
    {
      text: 'erased it',
      source: { id, version: 3, owner_account_id: DEMO_ACCOUNT, deleted: true },
      events: ['order.removed'],
    },
  ]
}
