import type { Order } from '../../../src/orders/order.ts'

/** The fields of a listed order that identify its version. */
export interface Row {
  id: string
  content: number
  hasUpdatedAt: boolean
}

export function rowOf(json: Uint8Array): Row {
  return rowOfOrder(JSON.parse(Buffer.from(json).toString()))
}

/** The row of a parsed order. */
export function rowOfOrder({ id, amount_total, updated_at }: Order): Row {
  return { id, content: amount_total, hasUpdatedAt: updated_at !== null }
}

/** Deletes the orders that the truth lacks, even if they reappear later. */
export function deleteMissing(orders: Map<string, Row>, truth: ReadonlyMap<string, Row>): void {
  for (const id of orders.keys()) if (!truth.has(id)) orders.delete(id)
}
