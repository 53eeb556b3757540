import { demoOrders } from '../../../src/demo/demo-orders.ts'
import { demoOrderId } from '../../../src/demo/order-ids.ts'
import { createRandom } from '../../../src/demo/random.ts'
import { isValidationError, parseChange } from '../../../src/indexing/projection/change.ts'
import { renderDocument } from '../../../src/indexing/writer/order-document.ts'
import type { ViewWrite } from '../../../src/indexing/writer/order-index.ts'
import { formatInstant } from '../../../src/lib/instant.ts'
import type { Order } from '../../../src/orders/order.ts'
import { NULL_INSTANT_KEY, type Position, type Sort } from '../../../src/orders/order-store.ts'
import {
  documentId,
  serializeDocument,
} from '../../../src/stores/opensearch/order-documents/order-document-source.ts'
import { sum } from '../../../test/harness/statistics.ts'

/** An account with a number of orders. */
export interface Account {
  id: string
  size: number
  /** Sorts for seconds per million orders on its first call. */
  listing(sort: Sort): Listing
}

/** All orders of an account, sorted. */
export interface Listing {
  size: number
  at(row: number): Position
  /** The last order with a date in this sort. */
  lastDated: Position | null
}

/** Generated orders: the same for the same sizes and instant. */
export type BenchOrders = ReturnType<typeof createOrders>

const LARGE_SHARE = 0.5
/** Interleaved with the orders of the measured accounts as in production. */
const MEDIUM_SHARE = 0.1
/** Of each of the small accounts, which share the rest. */
const SMALL_ACCOUNT_ORDERS = 80

const SEED = 1
const ROW_STREAM = 0x62656e63
const POOL_SIZE = 5_000
const SIZE_SAMPLES = 1_000
const OLDEST_MS = 3 * 365 * 86_400_000
const LONGEST_LIFE_MS = 60 * 86_400_000
const UNDATED_SHARE = 0.02
/** A prime far above any count: its multiples reach every order once before they repeat. */
const STRIDE = 2_147_483_647

/** `count` orders of a large account, a medium one and many small ones. */
export function accountSizes(count: number): Record<string, number> {
  const [large, medium] = [LARGE_SHARE, MEDIUM_SHARE].map((share) => Math.round(share * count))
  const sizes: Record<string, number> = { large: large ?? 0, medium: medium ?? 0 }
  const smallCount = Math.round((count * (1 - LARGE_SHARE - MEDIUM_SHARE)) / SMALL_ACCOUNT_ORDERS)
  for (let at = 1; at <= smallCount; at += 1) sizes[`small_${at}`] = SMALL_ACCOUNT_ORDERS
  return sizes
}

/**
 * Generates the orders of accounts, interleaved, of the three years before `until` (epoch ms).
 * Holds 20 bytes for each order.
 */
export function createOrders(sizes: Readonly<Record<string, number>>, until: number) {
  const count = sum(Object.values(sizes))
  const createdKeys = new Float64Array(count)
  const updatedKeys = new Float64Array(count)
  const owners = new Uint32Array(count)
  for (let index = 0; index < count; index += 1) {
    const random = createRandom(SEED, ROW_STREAM, index)
    const createdKey = until - random.between(0, OLDEST_MS)
    const updatedKey = Math.min(until, createdKey + random.between(0, LONGEST_LIFE_MS))
    createdKeys[index] = createdKey
    updatedKeys[index] = random.chance(UNDATED_SHARE) ? NULL_INSTANT_KEY : updatedKey
  }

  let first = 0
  const accounts = Object.entries(sizes).map(([name, size], owner): Account => {
    const indices = Uint32Array.from({ length: size }, (_, at) => first + at)
    owners.fill(owner, first, first + size)
    first += size
    const listings = new Map<Sort, Listing>()
    const listing = (sort: Sort) => {
      const keys = sort === 'created_at_desc' ? createdKeys : updatedKeys
      const sorted = listings.get(sort) ?? sortedListing(sort, keys, indices)
      listings.set(sort, sorted)
      return sorted
    }
    return { id: `acc_${name}`, size, listing }
  })

  let pool: Order[] | undefined // Lazy, since generation lasts a second.

  /** Each order once, in a sequence that is unrelated to time and account. */
  function* views(): Generator<ViewWrite> {
    pool ??= projectedOrders(until)
    for (let turn = 0; turn < count; turn += 1) {
      const index = (turn * (STRIDE % count)) % count
      const template = pool[turn % pool.length]
      const owner = accounts[owners[index] ?? 0]
      if (!template || !owner) throw new Error('there is no order to generate')
      const [createdKey = 0, updatedKey = 0] = [createdKeys[index], updatedKeys[index]]
      const orderId = demoOrderId(SEED, index)
      const dates = {
        created_at: formatInstant(createdKey),
        paid_at: paidAt(template, createdKey, updatedKey),
      }
      const order = { ...template, id: orderId, ...dates }
      const updatedAt = updatedKey === NULL_INSTANT_KEY ? null : updatedKey
      yield { accountId: owner.id, orderId, order, createdKey, updatedAt }
    }
  }

  /** The two lines of a bulk request for each order. */
  function* bulkLines(): Generator<string> {
    let stamp = until - count
    for (const view of views()) yield linesOf(view, stamp++)
  }

  const samples = [...bulkLines().take(SIZE_SAMPLES)].map((text) => Buffer.byteLength(text))
  return { count, accounts, meanBytes: sum(samples) / samples.length, views, bulkLines }
}

/** As long after the creation as in the template, and no later than the update. */
function paidAt(template: Order, createdKey: number, updatedKey: number): string | null {
  if (template.paid_at === null) return null
  const delayMs = Date.parse(template.paid_at) - Date.parse(template.created_at)
  return formatInstant(Math.min(createdKey + delayMs, updatedKey))
}

/** Public orders of every kind, from the service's own projection. */
function projectedOrders(until: number): Order[] {
  return [...demoOrders({ count: POOL_SIZE, seed: SEED, until })].flatMap((source) => {
    const change = parseChange(JSON.stringify(source))
    if (isValidationError(change))
      throw new Error(`the projection rejects a demo order: ${change.path}`)
    return change.views.map((view) => view.order)
  })
}

function sortedListing(sort: Sort, keys: Float64Array, indices: Uint32Array): Listing {
  const sign = sort === 'created_at_desc' ? -1 : 1
  const positionOf = (index: number): Position => {
    return { key: keys[index] ?? 0, id: demoOrderId(SEED, index) }
  }
  // Ids are ASCII, so strings compare as their bytes do.
  const byId = (a: number, b: number) => (positionOf(a).id < positionOf(b).id ? -1 : 1)
  const sorted = indices.toSorted((a, b) => sign * ((keys[a] ?? 0) - (keys[b] ?? 0) || byId(a, b)))
  const lastDated = sorted.findLast((index) => keys[index] !== NULL_INSTANT_KEY)
  return {
    size: sorted.length,
    at(row) {
      const index = sorted[row]
      if (index === undefined) throw new Error(`the listing has no row ${row}`)
      return positionOf(index)
    },
    lastDated: lastDated === undefined ? null : positionOf(lastDated),
  }
}

/** The two lines of a bulk request for a view. */
export function linesOf(view: ViewWrite, stamp: number): string {
  const action = { index: { _id: documentId(view), routing: view.accountId } }
  return `${JSON.stringify(action)}\n${serializeDocument(renderDocument(view, stamp))}\n`
}
