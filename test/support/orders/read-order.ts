import type { Order } from '../../../src/orders/order.ts'
import type { OrderStore } from '../../../src/orders/order-store.ts'

/** The order as the account reads it; `null` when it has no view of it. */
export async function readOrder(
  orders: Pick<OrderStore, 'get'>,
  orderId: string,
  accountId = 'acc_1',
): Promise<Order | null> {
  const json = await orders.get(accountId, orderId)
  return json && JSON.parse(Buffer.from(json).toString())
}
