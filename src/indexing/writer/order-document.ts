import { isDeepStrictEqual } from 'node:util'
import { formatInstant } from '../../lib/instant.ts'
import { parseJson } from '../../lib/json.ts'
import { ORDER_SCHEMA_VERSION, type Order } from '../../orders/order.ts'
import { NULL_UPDATED_KEY } from '../../orders/order-store.ts'
import { upgradeOrder } from '../../orders/upgrade-order.ts'
import type { StoredView, ViewWrite } from './order-index.ts'

/** One account's order as a store keeps it: the keys that are searched and the public JSON. */
export interface OrderDocument {
  accountId: string
  id: string
  schemaVersion: number
  status: string
  paymentMethod: string
  createdKey: number
  updatedKey: number
  writtenKey: number
  json: string
}

/** The document of a write in the bulk with this stamp. */
export function renderDocument(write: ViewWrite, writeTimestamp: number): OrderDocument {
  const updatedAt = write.updatedAt === 'stamp' ? writeTimestamp : write.updatedAt
  return {
    accountId: write.accountId,
    id: write.orderId,
    schemaVersion: ORDER_SCHEMA_VERSION,
    status: write.order.status,
    paymentMethod: write.order.payment.method,
    createdKey: write.createdKey,
    updatedKey: updatedAt ?? NULL_UPDATED_KEY,
    writtenKey: write.writtenKey ?? writeTimestamp,
    json: renderOrder(write.order, updatedAt),
  }
}

/** Whether the stored document shows this order already, `updated_at` left out. */
export function hasSameContent(
  stored: Pick<StoredView, 'updatedKey' | 'schemaVersion' | 'json'>,
  order: Order,
): boolean {
  const updatedAt = stored.updatedKey === NULL_UPDATED_KEY ? null : stored.updatedKey
  const rendered = renderOrder(order, updatedAt)
  const current = Buffer.from(upgradeOrder(stored.json, stored.schemaVersion)).toString()
  if (rendered === current) return true
  // Not the same text, but maybe the same values: tracking keys that came in another order.
  return isDeepStrictEqual(parseJson(current), parseJson(rendered))
}

/** The key fields of a stored document, whatever is in them. */
export type StoredKeys = Readonly<
  Record<
    'schemaVersion' | 'status' | 'paymentMethod' | 'createdKey' | 'updatedKey' | 'writtenKey',
    unknown
  >
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
  keys: Pick<StoredKeys, 'schemaVersion' | 'updatedKey'>,
): keys is { schemaVersion: number; updatedKey: number } {
  const { schemaVersion, updatedKey } = keys
  const isDate =
    Number.isSafeInteger(updatedKey) && Math.abs(Number(updatedKey)) <= NULL_UPDATED_KEY
  return Number.isSafeInteger(schemaVersion) && isDate
}

/** Renders an order before it is asked for, as while the orders before it are written. */
export function prerender(order: Order): void {
  splitAtUpdatedAt(order)
}

/** The text of an order before and after the value of `updated_at`, which is decided last. */
type SplitJson = readonly [before: string, after: string]

const NULL_UPDATED_AT = '"updated_at":null'
const prerenderedOrders = new WeakMap<Order, SplitJson>()

function splitAtUpdatedAt(order: Order): SplitJson {
  const cached = prerenderedOrders.get(order)
  if (cached !== undefined) return cached
  const text = JSON.stringify({ ...order, updated_at: null })
  const at = text.indexOf(NULL_UPDATED_AT) // No text of anybody's choice comes before it.
  const split = [text.slice(0, at), text.slice(at + NULL_UPDATED_AT.length)] as const
  prerenderedOrders.set(order, split)
  return split
}

function renderOrder(order: Order, updatedAt: number | null): string {
  const [before, after] = splitAtUpdatedAt(order)
  return before + (updatedAt === null ? NULL_UPDATED_AT : renderUpdatedAt(updatedAt)) + after
}

/** All documents of a bulk have one stamp, and those of an order one date: the last one is kept. */
let lastRendered = { updatedAt: Number.NaN, text: '' }

function renderUpdatedAt(updatedAt: number): string {
  if (lastRendered.updatedAt !== updatedAt) {
    lastRendered = { updatedAt, text: `"updated_at":"${formatInstant(updatedAt)}"` }
  }
  return lastRendered.text
}
