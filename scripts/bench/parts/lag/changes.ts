import { demoOrders } from '../../../../src/demo/demo-orders.ts'
import { demoOrderId } from '../../../../src/demo/order-ids.ts'
import { createRandom } from '../../../../src/demo/random.ts'
import { isValidationError, parseChange } from '../../../../src/indexing/projection/change.ts'
import { formatInstant } from '../../../../src/lib/instant.ts'

/** The accounts whose listings the bench follows. */
export const FOLLOWED_ACCOUNTS = [1, 2, 3, 4, 5].map((at) => `acc_followed_${at}`)
const OTHER_ACCOUNTS = Array.from({ length: 200 }, (_, at) => `acc_other_${at + 1}`)
/** Every account of a change. */
export const ALL_ACCOUNTS = [...FOLLOWED_ACCOUNTS, ...OTHER_ACCOUNTS]
/** A share of all orders; the other accounts have the rest. */
const FOLLOWED_SHARE = 0.3
const COPRODUCED_SHARE = 0.3

const NEW_SHARE = 0.3
const DELETED_SHARE = 0.02

const SEED = 1
const STREAM = 0x6c616731
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

/**
 * Generates changes of `existing` orders and of new ones, all of the year before `until` (epoch
 * ms).
 */
export function createChanges(existing: number, until: number) {
  // An unpaid order has no document, so it would never be shown.
  const pool = [...demoOrders({ count: POOL_SIZE, seed: SEED, until })].filter((source) => {
    const change = parseChange(JSON.stringify(source))
    return !isValidationError(change) && change.views.length > 0
  })
  const random = createRandom(SEED, STREAM, 0)
  const living: ReturnType<typeof newOrder>[] = []
  let created = 0
  let serial = 0

  function newOrder() {
    const account = () =>
      random.pick(random.chance(FOLLOWED_SHARE) ? FOLLOWED_ACCOUNTS : OTHER_ACCOUNTS)
    const [owner, coproducer] = [account(), account()]
    const isCoproduced = random.chance(COPRODUCED_SHARE) && coproducer !== owner
    return {
      id: demoOrderId(SEED, created++),
      version: 0,
      accountIds: isCoproduced ? [owner, coproducer] : [owner],
      createdAt: formatInstant(until - random.between(0, OLDEST_MS)),
    }
  }

  function change(order: ReturnType<typeof newOrder>, deleted: boolean): BenchChange {
    order.version += 1
    serial += 1
    const { id, version, accountIds, createdAt } = order
    const [owner, ...coproducers] = accountIds
    const head = { id, version, owner_account_id: owner }
    const content = {
      coproducer_account_ids: coproducers,
      amount_total: serial,
      created_at: createdAt,
      changed_at: createdAt,
    }
    const source = deleted
      ? { ...head, deleted }
      : { ...pool[serial % pool.length], ...head, ...content }
    return { serial, orderId: id, deleted, accountIds, json: JSON.stringify(source) }
  }

  function create(): BenchChange {
    const order = newOrder()
    living.push(order)
    return change(order, false)
  }

  return {
    /** The first versions of the existing orders. Can be read once. */
    *history() {
      while (created < existing) yield create()
    },

    /** A new order, a new version of an order or, rarely, its deletion. */
    next(): BenchChange {
      const share = random.next()
      const at = random.between(0, living.length - 1)
      const order = living[at]
      if (share < NEW_SHARE || order === undefined) return create()
      const deleted = share < NEW_SHARE + DELETED_SHARE
      if (deleted) living.splice(at, 1)
      return change(order, deleted)
    },
  }
}
