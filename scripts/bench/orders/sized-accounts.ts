import { demoOrderId } from '../../../src/demo/order-ids.ts'
import { createRandom } from '../../../src/demo/random.ts'
import { NULL_UPDATED_KEY, type Position, type Sort } from '../../../src/orders/order-store.ts'
import { sum } from '../measuring/figures.ts'
import { bulkLinesOf, inventKeys, projectedOrders } from './orders.ts'

/** An account with a number of orders. */
export interface SizedAccount {
  id: string
  size: number
  /** Runs for seconds per million orders and allocates 4 bytes for each. */
  listing(sort: Sort): SizedListing
}

/** All orders of an account, sorted. */
export interface SizedListing {
  at(place: number): Position
  /** The last order with a date in this sort. */
  lastDated: Position | null
}

const SEED = 2
const ROW_STREAM = 0x73697a65
/** A prime far above any count: its multiples reach every order once before they repeat. */
const STRIDE = 2_147_483_647

/**
 * Generates accounts of ascending sizes, with interleaved orders of the three years before `until`
 * (epoch ms). Holds 16 bytes for each order.
 */
export function createSizedAccounts(sizes: readonly number[], until: number) {
  const count = sum(sizes)
  const createdKeys = new Float64Array(count)
  const updatedKeys = new Float64Array(count)
  for (let index = 0; index < count; index += 1) {
    const { createdKey, updatedKey } = inventKeys(createRandom(SEED, ROW_STREAM, index), until)
    createdKeys[index] = createdKey
    updatedKeys[index] = updatedKey
  }

  let next = 0
  const accounts = sizes.map((size) => {
    const first = next
    next += size
    const listing = (sort: Sort) => {
      const keys = sort === 'created_at_desc' ? createdKeys : updatedKeys
      return sortedListing(keys, { first, size, way: sort === 'created_at_desc' ? -1 : 1 })
    }
    return { id: `acc_of_${size}`, size, first, listing }
  })

  /** The two lines of a bulk request for each order. */
  function* bulkLines() {
    const pool = projectedOrders(until)
    for (let turn = 0; turn < count; turn += 1) {
      const index = (turn * (STRIDE % count)) % count
      const accountId = accounts.findLast(({ first }) => first <= index)?.id ?? ''
      const [createdKey = 0, updatedKey = 0] = [createdKeys[index], updatedKeys[index]]
      const row = { accountId, orderId: demoOrderId(SEED, index), createdKey, updatedKey }
      const order = pool[turn % pool.length]
      if (order) yield bulkLinesOf(row, order, until - count + turn)
    }
  }

  return { accounts: accounts as readonly SizedAccount[], count, bulkLines }
}

interface Owned {
  /** The orders from this index on belong to the account. */
  first: number
  size: number
  way: 1 | -1
}

function sortedListing(keys: Float64Array, { first, size, way }: Owned): SizedListing {
  const positionOf = (index: number): Position => {
    return { key: keys[index] ?? 0, id: demoOrderId(SEED, index) }
  }
  const byId = (a: number, b: number) => (positionOf(a).id < positionOf(b).id ? -1 : 1)
  const listing = Uint32Array.from({ length: size }, (_, at) => first + at)
  listing.sort((a, b) => way * ((keys[a] ?? 0) - (keys[b] ?? 0) || byId(a, b)))
  const lastDated = listing.findLast((index) => keys[index] !== NULL_UPDATED_KEY)
  return {
    at: (place) => positionOf(listing[place] ?? first),
    lastDated: lastDated === undefined ? null : positionOf(lastDated),
  }
}
