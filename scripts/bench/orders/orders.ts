import { demoOrders } from '../../../src/demo/demo-orders.ts'
import { demoOrderId } from '../../../src/demo/order-ids.ts'
import { createRandom, type Random } from '../../../src/demo/random.ts'
import { isValidationError, parseChange } from '../../../src/indexing/projection/change.ts'
import { renderDocument } from '../../../src/indexing/writer/order-document.ts'
import type { ViewWrite } from '../../../src/indexing/writer/order-index.ts'
import { formatInstant } from '../../../src/lib/instant.ts'
import type { Order } from '../../../src/orders/order.ts'
import { NULL_UPDATED_KEY } from '../../../src/orders/order-store.ts'
import { documentId, serializeDocument } from '../../../src/stores/opensearch/order-document.ts'
import { sum } from '../measuring/figures.ts'

/** Half of all orders belong to this account. */
export const LARGE_ACCOUNT = 'acc_large'
/** A tenth of all orders, interleaved with those of the measured accounts as in production. */
const MEDIUM_ACCOUNT = 'acc_medium'
const LARGE_SHARE = 0.5
const MEDIUM_SHARE = 0.1
/** The mean of the small accounts, which share the rest. */
const SMALL_ACCOUNT_ORDERS = 80

const SEED = 1
const ROW_STREAM = 0x62656e63
const POOL_SIZE = 5_000
const SIZE_SAMPLES = 1_000
const DAY_MS = 86_400_000
const OLDEST_MS = 3 * 365 * DAY_MS
const LONGEST_LIFE_MS = 60 * DAY_MS
const UNDATED_SHARE = 0.02

/** The keys by which an order is found and sorted. */
export interface Row {
  accountId: string
  orderId: string
  createdKey: number
  updatedKey: number
}

/** Generated orders: the same for the same count and instant, and never kept in memory. */
export type BenchOrders = ReturnType<typeof createOrders>

/** Generates `count` orders of the three years before `until` (epoch ms). */
export function createOrders(count: number, until: number) {
  const smallOrders = count * (1 - LARGE_SHARE - MEDIUM_SHARE)
  const smallCount = Math.max(1, Math.round(smallOrders / SMALL_ACCOUNT_ORDERS))
  const smallAccounts = Array.from({ length: smallCount }, (_, at) => `acc_small_${at + 1}`)
  let pool: Order[] | undefined // Lazy, since generation lasts a second.

  function row(index: number): Row {
    const random = createRandom(SEED, ROW_STREAM, index)
    const share = random.next()
    const small = random.pick(smallAccounts)
    const other = share < LARGE_SHARE + MEDIUM_SHARE ? MEDIUM_ACCOUNT : small
    const accountId = share < LARGE_SHARE ? LARGE_ACCOUNT : other
    return { accountId, orderId: demoOrderId(SEED, index), ...inventKeys(random, until) }
  }

  /** In the order of insertion, which is unrelated to time and account. */
  function* rows() {
    for (let index = 0; index < count; index += 1) yield row(index)
  }

  function* views() {
    pool ??= projectedOrders(until)
    for (let index = 0; index < count; index += 1) {
      const order = pool[index % pool.length]
      if (order) yield viewOf(row(index), order)
    }
  }

  /** The two lines of a bulk request for each row. */
  function* bulkLines() {
    let stamp = until - count
    for (const view of views()) yield linesOf(view, stamp++)
  }

  const sizes = [...bulkLines().take(SIZE_SAMPLES)].map((text) => Buffer.byteLength(text))
  return { count, smallAccounts, meanBytes: sum(sizes) / sizes.length, rows, views, bulkLines }
}

/** Generates the instants of an order's creation and last change. */
export function inventKeys(random: Random, until: number) {
  const createdKey = until - random.between(0, OLDEST_MS)
  const updatedKey = Math.min(until, createdKey + random.between(0, LONGEST_LIFE_MS))
  return { createdKey, updatedKey: random.chance(UNDATED_SHARE) ? NULL_UPDATED_KEY : updatedKey }
}

/** Public orders of every kind, from the service's own projection. */
export function projectedOrders(until: number): Order[] {
  return [...demoOrders({ count: POOL_SIZE, seed: SEED, until })].flatMap((source) => {
    const change = parseChange(JSON.stringify(source))
    if (isValidationError(change))
      throw new Error(`the projection rejects a demo order: ${change.path}`)
    return change.views.map((view) => view.order)
  })
}

function viewOf({ accountId, orderId, createdKey, updatedKey }: Row, template: Order): ViewWrite {
  const order = { ...template, id: orderId, created_at: formatInstant(createdKey) }
  const updatedAt = updatedKey === NULL_UPDATED_KEY ? null : updatedKey
  return { accountId, orderId, order, createdKey, updatedAt }
}

/** The two lines of a bulk request: `template` with the id and the dates of `row`. */
export function bulkLinesOf(row: Row, template: Order, stamp: number): string {
  return linesOf(viewOf(row, template), stamp)
}

/** The two lines of a bulk request for a view. */
export function linesOf(view: ViewWrite, stamp: number): string {
  const action = { index: { _id: documentId(view), routing: view.accountId } }
  return `${JSON.stringify(action)}\n${serializeDocument(renderDocument(view, stamp))}\n`
}
