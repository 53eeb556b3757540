import { isDeepStrictEqual } from 'node:util'
import { formatInstant } from '../../lib/instant.ts'
import { parseJson } from '../../lib/text/json.ts'
import { type FilterColumn, filterGenerations } from '../../orders/filters/filter-generations.ts'
import { type Lookups, lookupsOf, paidAtOf } from '../../orders/lookups.ts'
import { ORDER_SCHEMA_VERSION, type Order } from '../../orders/order.ts'
import { NULL_INSTANT_KEY } from '../../orders/order-store.ts'
import { upgradeOrder } from '../../orders/upgrade-order.ts'
import type { StoredView, ViewWrite } from './order-index.ts'

/** One account's order as stored: the search keys and the public JSON. */
export interface OrderDocument {
  accountId: string
  id: string
  schemaVersion: number
  status: string
  paymentMethod: string
  createdKey: number
  updatedKey: number
  writtenKey: number
  filterKeys: FilterKeys
  json: string
}

/** The columns of filters. `paid_key`, as `updatedKey`: the greatest key for an unpaid order. */
export type FilterKeys = Lookups & { readonly paid_key: number }

/** Renders the document of a write, in a bulk with this write timestamp. */
export function renderDocument(write: ViewWrite, writeTimestamp: number): OrderDocument {
  const updatedAt = write.updatedAt === 'write-timestamp' ? writeTimestamp : write.updatedAt
  return {
    accountId: write.accountId,
    id: write.orderId,
    schemaVersion: ORDER_SCHEMA_VERSION,
    status: write.order.status,
    paymentMethod: write.order.payment.method,
    createdKey: write.createdKey,
    updatedKey: updatedAt ?? NULL_INSTANT_KEY,
    writtenKey: write.writtenKey ?? writeTimestamp,
    filterKeys: filterKeysOf(write.order),
    json: renderOrder(write.order, updatedAt),
  }
}

/** The columns by which filters find an order. */
export function filterKeysOf(order: Partial<Order>): FilterKeys {
  return { paid_key: paidAtOf(order) ?? NULL_INSTANT_KEY, ...lookupsOf(order) }
}

/**
 * The columns of filters that do not match the order of a stored document. A document of an earlier
 * release has no column of a later generation, and is intact.
 */
export function differingFilterColumns(
  order: Partial<Order>,
  keys: StoredKeys['filterKeys'],
  generations = filterGenerations,
): FilterColumn[] {
  const expected = filterKeysOf(order)
  const isDifferent = (column: FilterColumn) => !isDeepStrictEqual(keys[column], expected[column])
  return generations
    .filter(({ columns }) => columns.some((column) => keys[column] !== undefined))
    .flatMap(({ columns }) => columns.filter(isDifferent))
}

/** The JSON of an order without its date: equal for views with the same content. */
export function undatedJson(order: Order): string {
  return splitAtUpdatedAt(order).join(NULL_UPDATED_AT)
}

/** The order of a stored document, in the current schema version. */
export function storedOrder({ json, schemaVersion }: Pick<StoredView, 'json' | 'schemaVersion'>) {
  return parseJson(Buffer.from(upgradeOrder(json, schemaVersion)).toString()) as Order
}

/** Whether the stored document already has this content, ignoring `updated_at`. */
export function hasSameContent(
  stored: Pick<StoredView, 'updatedKey' | 'schemaVersion' | 'json'>,
  order: Order,
): boolean {
  const updatedAt = stored.updatedKey === NULL_INSTANT_KEY ? null : stored.updatedKey
  const rendered = renderOrder(order, updatedAt)
  const current = Buffer.from(upgradeOrder(stored.json, stored.schemaVersion)).toString()
  if (rendered === current) return true
  // The text may differ in the sequence of tracking keys alone.
  return isDeepStrictEqual(parseJson(current), parseJson(rendered))
}

/** The key fields of a stored document, unvalidated. */
export type StoredKeys = Readonly<
  Record<
    'schemaVersion' | 'status' | 'paymentMethod' | 'createdKey' | 'updatedKey' | 'writtenKey',
    unknown
  >
> & {
  filterKeys: Readonly<Partial<Record<FilterColumn, unknown>>>
}

/** Whether a document with these keys is found and sorted like this view. */
export function hasKeysOf(
  { order, createdKey }: Pick<ViewWrite, 'order' | 'createdKey'>,
  keys: StoredKeys,
): boolean {
  return (
    keys.status === order.status &&
    keys.paymentMethod === order.payment.method &&
    keys.createdKey === createdKey &&
    differingFilterColumns(order, keys.filterKeys).length === 0 &&
    Number.isSafeInteger(keys.writtenKey)
  )
}

/** Whether the keys that a comparison needs are valid. */
export function hasReadableKeys(
  keys: Pick<StoredKeys, 'schemaVersion' | 'updatedKey'>,
): keys is { schemaVersion: number; updatedKey: number } {
  const { schemaVersion, updatedKey } = keys
  const isDate =
    Number.isSafeInteger(updatedKey) && Math.abs(Number(updatedKey)) <= NULL_INSTANT_KEY
  return Number.isSafeInteger(schemaVersion) && isDate
}

/** Whether a stored value has the objects that a comparison and an announcement read. */
export function isReadableOrder(order: unknown): order is object {
  return isObject(order) && isObject(Reflect.get(order, 'payment'))
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** Renders an order early, while earlier batches are written. */
export function prerender(order: Order): void {
  splitAtUpdatedAt(order)
}

/** The length of the JSON of an order, almost. */
export function renderedLength(order: Order): number {
  const [before, after] = splitAtUpdatedAt(order)
  return before.length + after.length
}

/** The JSON of an order before and after the value of `updated_at`, which is known last. */
type SplitJson = readonly [before: string, after: string]

const NULL_UPDATED_AT = '"updated_at":null'
const prerenderedOrders = new WeakMap<Order, SplitJson>()

function splitAtUpdatedAt(order: Order): SplitJson {
  const cached = prerenderedOrders.get(order)
  if (cached !== undefined) return cached
  const text = JSON.stringify({ ...order, updated_at: null })
  // No object with an `updated_at` of its own precedes it, and JSON escapes the quotes of a text.
  const at = text.indexOf(NULL_UPDATED_AT)
  const split = [text.slice(0, at), text.slice(at + NULL_UPDATED_AT.length)] as const
  prerenderedOrders.set(order, split)
  return split
}

function renderOrder(order: Order, updatedAt: number | null): string {
  const [before, after] = splitAtUpdatedAt(order)
  return before + (updatedAt === null ? NULL_UPDATED_AT : renderUpdatedAt(updatedAt)) + after
}

/** The documents of a bulk share one write timestamp, so caching the last text suffices. */
let lastRendered = { updatedAt: Number.NaN, text: '' }

function renderUpdatedAt(updatedAt: number): string {
  if (lastRendered.updatedAt !== updatedAt) {
    lastRendered = { updatedAt, text: `"updated_at":"${formatInstant(updatedAt)}"` }
  }
  return lastRendered.text
}
