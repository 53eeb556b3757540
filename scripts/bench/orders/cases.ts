import { type Sort, sorts } from '../../../src/orders/order-store.ts'
import { type BenchOrders, LARGE_ACCOUNT, type Row } from './orders.ts'
import { type Place, placesOf } from './places.ts'

/** What is measured under one name. */
export interface Case {
  name: string
  account: 'large' | 'small'
  sort: Sort
  limit: number
  /** The pages that are asked for follow these. */
  places: readonly Place[]
}

// A filter is kept in the server's cache when it comes twice among the last 256, which one of an own page
// never does in life; so there are more pages than that, and none is served from there.
const PLACES = 512
/** So many that no account's few pages are all there is, so few that looking up their keys costs nothing. */
const SMALL_ACCOUNTS = 32
const LIMITS = [20, 100]

/** Both sorts, `limit` 20 and 100, of a large and of small accounts. */
export function createCases(orders: BenchOrders): Case[] {
  const small = orders.smallAccounts.slice(0, SMALL_ACCOUNTS)
  const rows = rowsByAccount(orders, [LARGE_ACCOUNT, ...small])
  const accounts = { large: [LARGE_ACCOUNT], small }
  return (['large', 'small'] as const).flatMap((account) =>
    sorts.flatMap((sort) => {
      const count = Math.ceil(PLACES / accounts[account].length)
      const places = accounts[account].flatMap((id) => placesOf(rows.get(id) ?? [], sort, count))
      const name = `${account} ${sort.replace(/_at_.*/, '')}`
      return LIMITS.map((limit) => ({ name: `${name} ${limit}`, account, sort, limit, places }))
    }),
  )
}

/** Orders a page has on average: a small account ends before a hundred of them. */
export function meanRows({ places, limit }: Case): number {
  const rows = places.map(({ following }) => Math.min(limit, following.length))
  return rows.reduce((total, count) => total + count, 0) / places.length
}

function rowsByAccount(orders: BenchOrders, accounts: readonly string[]): Map<string, Row[]> {
  const byAccount = new Map(accounts.map((id): [string, Row[]] => [id, []]))
  for (const row of orders.rows()) byAccount.get(row.accountId)?.push(row)
  return byAccount
}
