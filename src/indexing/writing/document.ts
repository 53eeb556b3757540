import { isDeepStrictEqual } from 'node:util'
import { formatInstant } from '../../lib/instant.ts'
import { completeOrder } from '../../orders/complete.ts'
import { ORDER_SHAPE, type Order } from '../../orders/order.ts'
import { NULL_UPDATED_KEY } from '../../orders/order-store.ts'
import type { StoredView, ViewWrite } from './order-index.ts'

/** One account's order as a store keeps it: the keys that are searched and the public JSON. */
export interface OrderDocument {
  accountId: string
  id: string
  shape: number
  status: string
  paymentMethod: string
  createdKey: number
  updatedKey: number
  writtenKey: number
  json: Buffer
}

/** The document of a write in the bulk with this stamp. */
export function renderDocument(write: ViewWrite, stamp: number): OrderDocument {
  const updatedAt = write.updatedAt === 'stamp' ? stamp : write.updatedAt
  return {
    accountId: write.accountId,
    id: write.orderId,
    shape: ORDER_SHAPE,
    status: write.order.status,
    paymentMethod: write.order.payment.method,
    createdKey: write.createdKey,
    updatedKey: updatedAt ?? NULL_UPDATED_KEY,
    writtenKey: stamp,
    json: renderOrder(write.order, updatedAt),
  }
}

/** Whether the stored document shows this order already, `updated_at` left out. */
export function showsSame(stored: StoredView, order: Order): boolean {
  const updatedAt = stored.updatedKey === NULL_UPDATED_KEY ? null : stored.updatedKey
  const rendered = renderOrder(order, updatedAt)
  const shown = completeOrder(stored.json, stored.shape)
  if (rendered.equals(shown)) return true
  // Not the same bytes, but maybe the same values: tracking keys that came in another order.
  return isDeepStrictEqual(parseJson(shown), parseJson(rendered))
}

function renderOrder(order: Order, updatedAt: number | null): Buffer {
  const updated_at = updatedAt === null ? null : formatInstant(updatedAt)
  return Buffer.from(JSON.stringify({ ...order, updated_at }))
}

function parseJson(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString())
}
