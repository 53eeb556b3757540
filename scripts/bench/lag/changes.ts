import { demoOrders } from '../../../src/demo/demo-orders.ts'
import { demoOrderId } from '../../../src/demo/order-ids.ts'
import { createRandom } from '../../../src/demo/random.ts'
import { isValidationError, parseChange } from '../../../src/indexing/projection/change.ts'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import { formatInstant } from '../../../src/lib/instant.ts'

/** Whose listings are followed. */
export const FOLLOWED_ACCOUNTS = [1, 2, 3, 4, 5].map((at) => `acc_followed_${at}`)
const OTHER_ACCOUNTS = Array.from({ length: 200 }, (_, at) => `acc_other_${at + 1}`)
/** Of all orders; the other accounts share the rest. */
const FOLLOWED_SHARE = 0.3
const COPRODUCED_SHARE = 0.3

const NEW_SHARE = 0.3
const DELETED_SHARE = 0.02
/** Of the changes of an order that there is; the rest may be of any. */
const RECENT_SHARE = 0.5
const RECENT_ORDERS = 1_000

const SEED = 1
const ORDER_STREAM = 0x6c616731
const CHANGE_STREAM = 0x6c616732
const POOL_SIZE = 1_000
const OLDEST_MS = 365 * 86_400_000

/** A version of an order, as the platform tells it. */
export interface BenchChange {
  /** Of this change alone, and greater than those before. It is the order's `amount_total`, so it shows. */
  serial: number
  orderId: string
  deleted: boolean
  /** Who is shown it; for a deletion, who was shown the order. */
  accountIds: readonly string[]
  json: string
}

/** The life of a platform's orders. */
export interface BenchChanges {
  /** The orders that there are before anything changes, in their first version. Exhausted by use. */
  history(): Generator<BenchChange>
  /** A new order, a new version of one or, now and then, its deletion. */
  next(): BenchChange
}

/** Changes of `existing` orders and of new ones; all are of the year before `until` (epoch ms). */
export function createChanges(existing: number, until: number): BenchChanges {
  const pool = visibleOrders(until)
  const random = createRandom(SEED, CHANGE_STREAM, 0)
  /** By index. */
  const versions: number[] = []
  /** Indices of what is not deleted; the newest come last. */
  const living: number[] = []
  let serial = 0

  function change(index: number, deleted: boolean): BenchChange {
    const version = (versions[index] ?? 0) + 1
    versions[index] = version
    serial += 1
    const { orderId, ownerId, coproducerIds, createdAt } = orderAt(index, until)
    const head = { id: orderId, version, owner_account_id: ownerId }
    const source = deleted
      ? { ...head, deleted }
      : {
          ...pool[serial % pool.length],
          ...head,
          coproducer_account_ids: coproducerIds,
          amount_total: serial,
          created_at: createdAt,
          changed_at: createdAt,
        }
    const accountIds = [ownerId, ...coproducerIds]
    return { serial, orderId, deleted, accountIds, json: JSON.stringify(source) }
  }

  function create(): BenchChange {
    const index = versions.length
    living.push(index)
    return change(index, false)
  }

  /** A place among the living. */
  function pick(): number {
    const last = living.length - 1
    const from = random.chance(RECENT_SHARE) ? Math.max(0, last - RECENT_ORDERS) : 0
    return random.between(from, last)
  }

  return {
    *history() {
      while (versions.length < existing) yield create()
    },

    next() {
      const share = random.next()
      if (share < NEW_SHARE || living.length === 0) return create()
      const at = pick()
      const index = living[at] ?? 0
      const deleted = share < NEW_SHARE + DELETED_SHARE
      if (deleted) living.splice(at, 1)
      return change(index, deleted)
    },
  }
}

/** What no version changes; the same for the same index. */
function orderAt(index: number, until: number) {
  const random = createRandom(SEED, ORDER_STREAM, index)
  const account = () =>
    random.pick(random.chance(FOLLOWED_SHARE) ? FOLLOWED_ACCOUNTS : OTHER_ACCOUNTS)
  const ownerId = account()
  const coproducerId = account()
  const isCoproduced = random.chance(COPRODUCED_SHARE) && coproducerId !== ownerId
  return {
    orderId: demoOrderId(SEED, index),
    ownerId,
    coproducerIds: isCoproduced ? [coproducerId] : [],
    createdAt: formatInstant(until - random.between(0, OLDEST_MS)),
  }
}

/** Those that have a document: an order that was never paid for has none. */
function visibleOrders(until: number): SourceOrder[] {
  return [...demoOrders({ count: POOL_SIZE, seed: SEED, until })].filter((source) => {
    const change = parseChange(JSON.stringify(source))
    return !isValidationError(change) && change.views.length > 0
  })
}
