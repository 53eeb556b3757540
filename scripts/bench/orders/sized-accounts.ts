import { demoOrderId } from '../../../src/demo/order-ids.ts'
import { createRandom } from '../../../src/demo/random.ts'
import { NULL_UPDATED_KEY, type Position, type Sort } from '../../../src/orders/order-store.ts'
import { bulkLinesOf, inventKeys, projectedOrders, type Row } from './orders.ts'

/** An account with a number of orders, and where they lie in its listings. */
export interface SizedAccount {
  id: string
  size: number
  /** Takes seconds for a million orders, and holds 4 bytes of each while it is kept. */
  listing(sort: Sort): SizedListing
}

/** All orders of an account in the order of a sort. */
export interface SizedListing {
  at(place: number): Position
  /** The last that has a date in this sort. */
  lastDated: Position | null
}

/** Accounts of given sizes, ascending: their orders lie between each other as in life. */
export interface SizedAccounts {
  accounts: readonly SizedAccount[]
  count: number
  /** The two lines of a bulk request for each order. */
  bulkLines(): Generator<string>
}

const SEED = 2
const ROW_STREAM = 0x73697a65
/** A prime far above any count, so that its multiples meet every order once before they repeat. */
const STRIDE = 2_147_483_647

/** Invents the orders of the three years before `until` (epoch ms). Keeps 16 bytes of each. */
export function createSizedAccounts(sizes: readonly number[], until: number): SizedAccounts {
  const count = sizes.reduce((total, size) => total + size, 0)
  const createdKeys = new Float64Array(count)
  const updatedKeys = new Float64Array(count)
  for (let index = 0; index < count; index += 1) {
    const { createdKey, updatedKey } = inventKeys(createRandom(SEED, ROW_STREAM, index), until)
    createdKeys[index] = createdKey
    updatedKeys[index] = updatedKey
  }
  const keysOf = (sort: Sort) => (sort === 'created_at_desc' ? createdKeys : updatedKeys)
  const owned = (first: number, size: number) => (sort: Sort) =>
    sortedListing(keysOf(sort), { first, size, sort })

  let first = 0
  const accounts = sizes.map((size) => {
    const account = { id: `acc_of_${size}`, size, first, listing: owned(first, size) }
    first += size
    return account
  })

  function row(index: number): Row {
    const account = accounts.findLast((one) => one.first <= index)
    return {
      accountId: account?.id ?? '',
      orderId: demoOrderId(SEED, index),
      createdKey: createdKeys[index] ?? 0,
      updatedKey: updatedKeys[index] ?? 0,
    }
  }

  function* bulkLines() {
    const pool = projectedOrders(until)
    for (let turn = 0; turn < count; turn += 1) {
      const index = (turn * (STRIDE % count)) % count
      const order = pool[turn % pool.length]
      if (order) yield bulkLinesOf(row(index), order, until - count + turn)
    }
  }

  return { accounts, count, bulkLines }
}

interface Owned {
  /** The orders from this index on are the account's. */
  first: number
  size: number
  sort: Sort
}

function sortedListing(keys: Float64Array, { first, size, sort }: Owned): SizedListing {
  const way = sort === 'created_at_desc' ? -1 : 1
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
