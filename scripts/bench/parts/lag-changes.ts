import { demoOrders } from '../../../src/demo/demo-orders.ts'
import { demoOrderId } from '../../../src/demo/order-ids.ts'
import { createRandom } from '../../../src/demo/random.ts'
import { isValidationError, parseChange } from '../../../src/indexing/projection/change.ts'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import { formatInstant } from '../../../src/lib/instant.ts'

/** The accounts whose listings the bench follows. */
export const FOLLOWED_ACCOUNTS = [1, 2, 3, 4, 5].map((at) => `acc_followed_${at}`)
const OTHER_ACCOUNTS = Array.from({ length: 200 }, (_, at) => `acc_other_${at + 1}`)
/** A share of all orders; the other accounts have the rest. */
const FOLLOWED_SHARE = 0.3
const COPRODUCED_SHARE = 0.3

const NEW_SHARE = 0.3
const DELETED_SHARE = 0.02
/** A share of the changes of existing orders; the rest changes any order. */
const RECENT_SHARE = 0.5
const RECENT_ORDERS = 1_000

const SEED = 1
const ORDER_STREAM = 0x6c616731
const CHANGE_STREAM = 0x6c616732
const POOL_SIZE = 1_000
const OLDEST_MS = 365 * 86_400_000

/** A version of an order, as the platform sends it. */
export interface BenchChange {
  /** Unique and ascending. It is the order's `amount_total`, so a listing shows it. */
  serial: number
  orderId: string
  deleted: boolean
  /** The accounts that see the order; for a deletion, those that saw it. */
  accountIds: readonly string[]
  json: string
}

export type BenchChanges = ReturnType<typeof createChanges>

/** Generates changes of `existing` orders and of new ones, all of the year before `until` (epoch ms). */
export function createChanges(existing: number, until: number) {
  const pool = visibleOrders(until)
  const random = createRandom(SEED, CHANGE_STREAM, 0)
  /** The latest version of each order, by its index. */
  const versions: number[] = []
  /** Indices of orders that are not deleted, the newest last. */
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

  return {
    /** The first versions of the existing orders. Can be read once. */
    *history() {
      while (versions.length < existing) yield create()
    },

    /** A new order, a new version of an order or, rarely, its deletion. */
    next(): BenchChange {
      const share = random.next()
      if (share < NEW_SHARE || living.length === 0) return create()
      const last = living.length - 1
      const from = random.chance(RECENT_SHARE) ? Math.max(0, last - RECENT_ORDERS) : 0
      const at = random.between(from, last)
      const index = living[at] ?? 0
      const deleted = share < NEW_SHARE + DELETED_SHARE
      if (deleted) living.splice(at, 1)
      return change(index, deleted)
    },
  }
}

/** The constant part of an order: the same for the same index. */
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

/** Orders with a document: an unpaid order has none. */
function visibleOrders(until: number): SourceOrder[] {
  return [...demoOrders({ count: POOL_SIZE, seed: SEED, until })].filter((source) => {
    const change = parseChange(JSON.stringify(source))
    return !isValidationError(change) && change.views.length > 0
  })
}
