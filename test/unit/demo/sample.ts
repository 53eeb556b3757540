import { demoOrders } from '../../../src/demo/demo-orders.ts'
import type { SourceOrder, SourcePayment } from '../../../src/indexing/projection/source-order.ts'

export const until = Date.parse('2026-03-01T12:00:00.000Z')

export const orders = [...demoOrders({ count: 3000, seed: 1, until })]
const stretches = [orders.slice(0, 2000), orders.slice(500, 2500), orders.slice(1000)]
export const everyStretchHas = (is: (order: SourceOrder) => unknown) =>
  stretches.every((stretch) => stretch.some(is))

export const lastPayment = ({ payments }: SourceOrder) =>
  payments.reduce((last, payment) => (payment.created_at >= last.created_at ? payment : last))
export const lastStatusIs = (order: SourceOrder, status: SourcePayment['status']) =>
  lastPayment(order).status === status
export const isSplit = (order: SourceOrder) => lastPayment(order).split_group != null
export const isRenewal = ({ items, payments }: SourceOrder) =>
  payments.length > 1 && items.some((item) => item.plan_id)
export const instantsOf = (order: SourceOrder) =>
  [
    order.created_at,
    order.paid_at,
    order.canceled_at,
    order.changed_at,
    ...order.payments.flatMap((payment) => [payment.created_at, payment.refunded_at]),
  ].filter((text) => typeof text === 'string')
export const agentOf = (order: SourceOrder) => order.navigator?.user_agent ?? ''
export const documentOf = (order: SourceOrder) => order.customer.document ?? ''
export const byText = (one: string, other: string) => (one < other ? -1 : 1)
export const idsOf = (some: SourceOrder[]) => some.map(({ id }) => id)
export const idsWhere = (is: (order: SourceOrder) => unknown) => idsOf(orders.filter(is))
export const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0)
export const subtotalOf = (items: SourceOrder['items']) =>
  sum(items.map((item) => item.unit_price * item.quantity))
export const groupsOf = (key: (order: SourceOrder) => unknown, least: number) =>
  [...Map.groupBy(orders, key).values()].filter((group) => group.length >= least)
