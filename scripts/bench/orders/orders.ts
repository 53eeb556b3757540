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

/** Half of all orders are this account's. */
export const LARGE_ACCOUNT = 'acc_large'
/** A tenth of all orders: it is not measured, and lies between the others as in life. */
const MEDIUM_ACCOUNT = 'acc_medium'
const LARGE_SHARE = 0.5
const MEDIUM_SHARE = 0.1
/** On average; the small accounts share the rest. */
const SMALL_ACCOUNT_ORDERS = 80

const SEED = 1
const ROW_STREAM = 0x62656e63
const POOL_SIZE = 5_000
const MEASURED = 1_000
const DAY_MS = 86_400_000
const OLDEST_MS = 3 * 365 * DAY_MS
const LONGEST_LIFE_MS = 60 * DAY_MS
const UNDATED_SHARE = 0.02

/** What an order is found and sorted by. */
export interface Row {
  accountId: string
  orderId: string
  createdKey: number
  updatedKey: number
}

/** The orders that are loaded: the same for the same count and instant, and none of them is kept. */
export interface BenchOrders {
  count: number
  smallAccounts: readonly string[]
  /** Of a document, on average. */
  meanBytes: number
  /** In the order of insertion, which has nothing to do with time or account. */
  rows(): Generator<Row>
  /** What is written for each row. */
  views(): Generator<ViewWrite>
  /** The two lines of a bulk request for each row. */
  bulkLines(): Generator<string>
}

/** Invents `count` orders of the three years before `until` (epoch ms). */
export function createOrders(count: number, until: number): BenchOrders {
  const smallOrders = count * (1 - LARGE_SHARE - MEDIUM_SHARE)
  const smallCount = Math.max(1, Math.round(smallOrders / SMALL_ACCOUNT_ORDERS))
  const smallAccounts = Array.from({ length: smallCount }, (_, at) => `acc_small_${at + 1}`)

  let pool: Order[] | undefined // It takes a second to make.

  function row(index: number): Row {
    const random = createRandom(SEED, ROW_STREAM, index)
    const share = random.next()
    const small = random.pick(smallAccounts)
    return {
      accountId: accountOf(share) ?? small,
      orderId: demoOrderId(SEED, index),
      ...inventKeys(random, until),
    }
  }

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

  function* bulkLines() {
    let stamp = until - count
    for (const view of views()) yield linesOf(view, stamp++)
  }

  return { count, smallAccounts, meanBytes: meanBytes(bulkLines()), rows, views, bulkLines }
}

function meanBytes(lines: Generator<string>): number {
  const sizes = [...lines.take(MEASURED)].map((text) => Buffer.byteLength(text))
  return sizes.reduce((total, size) => total + size, 0) / sizes.length
}

function accountOf(share: number): string | undefined {
  if (share < LARGE_SHARE) return LARGE_ACCOUNT
  return share < LARGE_SHARE + MEDIUM_SHARE ? MEDIUM_ACCOUNT : undefined
}

/** When an order came to be, and when it changed last. */
export function inventKeys(random: Random, until: number) {
  const createdKey = until - random.between(0, OLDEST_MS)
  const updatedKey = Math.min(until, createdKey + random.between(0, LONGEST_LIFE_MS))
  return {
    createdKey,
    updatedKey: random.chance(UNDATED_SHARE) ? NULL_UPDATED_KEY : updatedKey,
  }
}

/** Public orders of every kind, through the service's own projection. */
export function projectedOrders(until: number): Order[] {
  return [...demoOrders({ count: POOL_SIZE, seed: SEED, until })].flatMap((source) => {
    const change = parseChange(JSON.stringify(source))
    if (isValidationError(change)) throw new Error(`a demo order is refused: ${change.path}`)
    return change.views.map((view) => view.order)
  })
}

/** What `template` tells, under the id and with the dates of `row`. */
function viewOf({ accountId, orderId, createdKey, updatedKey }: Row, template: Order): ViewWrite {
  const order = { ...template, id: orderId, created_at: formatInstant(createdKey) }
  const updatedAt = updatedKey === NULL_UPDATED_KEY ? null : updatedKey
  return { accountId, orderId, order, createdKey, updatedAt }
}

/** The two lines of a bulk request: what `template` tells, under the id and with the dates of `row`. */
export function bulkLinesOf(row: Row, template: Order, stamp: number): string {
  return linesOf(viewOf(row, template), stamp)
}

function linesOf(view: ViewWrite, stamp: number): string {
  const document = renderDocument(view, stamp)
  const action = { index: { _id: documentId(view), routing: view.accountId } }
  return `${JSON.stringify(action)}\n${serializeDocument(document)}\n`
}
