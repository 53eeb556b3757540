import { isDeepStrictEqual } from 'node:util'
import { formatInstant } from '../../lib/instant.ts'
import { parseJson } from '../../lib/json.ts'
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
  json: string
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
    writtenKey: write.writtenKey ?? stamp,
    json: renderedOrder(write.order, updatedAt),
  }
}

/** Whether the stored document shows this order already, `updated_at` left out. */
export function showsSame(
  stored: Pick<StoredView, 'updatedKey' | 'shape' | 'json'>,
  order: Order,
): boolean {
  const updatedAt = stored.updatedKey === NULL_UPDATED_KEY ? null : stored.updatedKey
  const rendered = renderedOrder(order, updatedAt)
  const shown = Buffer.from(completeOrder(stored.json, stored.shape)).toString()
  if (rendered === shown) return true
  // Not the same text, but maybe the same values: tracking keys that came in another order.
  return isDeepStrictEqual(parseJson(shown), parseJson(rendered))
}

/** The key fields of a stored document, whatever is in them. */
export type StoredKeys = Readonly<
  Record<'shape' | 'status' | 'paymentMethod' | 'createdKey' | 'updatedKey' | 'writtenKey', unknown>
>

/** Whether a document with these keys is found where this view has to be. */
export function hasKeysOf(
  { order, createdKey }: Pick<ViewWrite, 'order' | 'createdKey'>,
  keys: StoredKeys,
): boolean {
  return (
    keys.status === order.status &&
    keys.paymentMethod === order.payment.method &&
    keys.createdKey === createdKey &&
    Number.isSafeInteger(keys.writtenKey)
  )
}

/** Whether a stored document with these keys can be compared: its order is read by the one and dated by the other. */
export function hasReadableKeys(
  keys: Pick<StoredKeys, 'shape' | 'updatedKey'>,
): keys is { shape: number; updatedKey: number } {
  const { shape, updatedKey } = keys
  const isDate =
    Number.isSafeInteger(updatedKey) && Math.abs(Number(updatedKey)) <= NULL_UPDATED_KEY
  return Number.isSafeInteger(shape) && isDate
}

/** Renders an order before it is asked for, as while the orders before it are written. */
export function renderAhead(order: Order): void {
  textsAround(order)
}

/** The text of an order before and after the value of `updated_at`, which is decided last. */
type TextsAround = readonly [before: string, after: string]

const UNDATED = '"updated_at":null'
const renderedTexts = new WeakMap<Order, TextsAround>()

function textsAround(order: Order): TextsAround {
  const known = renderedTexts.get(order)
  if (known !== undefined) return known
  const text = JSON.stringify({ ...order, updated_at: null })
  const at = text.indexOf(UNDATED) // No text of anybody's choice comes before it.
  const around = [text.slice(0, at), text.slice(at + UNDATED.length)] as const
  renderedTexts.set(order, around)
  return around
}

function renderedOrder(order: Order, updatedAt: number | null): string {
  const [before, after] = textsAround(order)
  return before + (updatedAt === null ? UNDATED : dated(updatedAt)) + after
}

/** All documents of a bulk have one stamp, and those of an order one date: the last one is kept. */
let last = { updatedAt: Number.NaN, text: '' }

function dated(updatedAt: number): string {
  if (last.updatedAt !== updatedAt) {
    last = { updatedAt, text: `"updated_at":"${formatInstant(updatedAt)}"` }
  }
  return last.text
}
