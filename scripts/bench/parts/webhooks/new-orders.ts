import { demoOrders } from '../../../../src/demo/demo-orders.ts'
import { demoOrderId } from '../../../../src/demo/order-ids.ts'
import {
  type Change,
  isValidationError,
  parseChange,
} from '../../../../src/indexing/projection/change.ts'
import type { SourceOrder } from '../../../../src/indexing/projection/source-order.ts'

const SEED = 17
const POOL_SIZE = 1_000

/** Generates orders that did not exist before, each seen by its owner alone. */
export function createNewOrders(until: number) {
  const seeds = { count: POOL_SIZE, seed: SEED, until }
  // An order without a view announces nothing.
  const pool = [...demoOrders(seeds)].filter((source) => toChange(source).views.length > 0)
  let created = 0

  function next(accountId: string): SourceOrder {
    const source = pool[created % pool.length]
    if (source === undefined) throw new Error('no demo order is visible')
    const { coproducer_account_ids: _, ...order } = source
    return { ...order, id: demoOrderId(SEED, created++), owner_account_id: accountId }
  }

  return {
    /** The next order, as the platform sends it. */
    next,
    /** So many orders for the writer, of the accounts in rotation. */
    *changes(count: number, accountIds: readonly string[]): Generator<Change> {
      for (let at = 0; at < count; at += 1) {
        yield toChange(next(accountIds[at % accountIds.length] ?? ''))
      }
    },
  }
}

export type NewOrders = ReturnType<typeof createNewOrders>

function toChange(source: SourceOrder): Change {
  const change = parseChange(JSON.stringify(source))
  if (isValidationError(change)) {
    throw new Error(`the projection rejects a demo order: ${change.path}: ${change.reason}`)
  }
  return change
}
