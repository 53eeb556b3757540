import type { PagerState } from '../../../../../src/orders/cursor.ts'
import { noFilters } from '../../../../../src/orders/filters/filters.ts'
import type { Order } from '../../../../../src/orders/order.ts'
import {
  isAfter,
  NULL_INSTANT_KEY,
  type OrderStore,
  type Position,
  type RenderedOrder,
} from '../../../../../src/orders/order-store.ts'
import { readPage } from '../../../../../src/orders/paging.ts'
import type { Documents } from './memory-shard.ts'

const SORT = 'updated_at_asc'

export type PagingClient = ReturnType<typeof createPagingClient>

/** A client that lists an account by `updated_at_asc` for ever, and keeps a copy of its orders. */
export function createPagingClient(searchable: () => Documents, accountId: string, limit: number) {
  /** By document id. */
  const copy = new Map<string, Row>()
  const store = createSearch(searchable)
  const listing = { accountId, sort: SORT, filters: noFilters } as const
  let state: PagerState | null = null

  /** Whether more pages follow. Otherwise the client repeats the last one. */
  async function readPageOnce(): Promise<boolean> {
    const page = await readPage(store as OrderStore, listing, state, limit)
    for (const { id, json } of page.rows) {
      copy.set(`${accountId}:${id}`, rowOf({ order: JSON.parse(Buffer.from(json).toString()) }))
    }
    state = page.next ?? state
    return page.next !== null
  }

  return {
    copy,
    readPage: readPageOnce,
    async readToEnd() {
      while (await readPageOnce());
    },
  }
}

/** The searches of a pager, over the searchable documents of the primary. */
function createSearch(searchable: () => Documents): Pick<OrderStore, 'findPage' | 'latestWrite'> {
  const byPosition = (one: Position, other: Position) => (isAfter(one, other, SORT) ? 1 : -1)
  const ofAccount = (accountId: string) =>
    [...searchable().values()]
      .map(({ source }) => source)
      .filter((source) => source['account_id'] === accountId)
  const position = (source: Record<string, unknown>, field: string): Position => ({
    key: Number(source[field]),
    id: String(source['id']),
  })

  return {
    async findPage({ accountId, after, nullsWrittenAfter, size }) {
      return ofAccount(accountId)
        .filter((source) => {
          const isUndated = source['updated_key'] === NULL_INSTANT_KEY
          const written = position(source, 'written_key')
          if (isUndated && nullsWrittenAfter && !isAfter(written, nullsWrittenAfter, SORT))
            return false
          return after === null || isAfter(position(source, 'updated_key'), after, SORT)
        })
        .map((source): RenderedOrder => {
          const json = Buffer.from(JSON.stringify(source['order']))
          return { ...position(source, 'updated_key'), json, tag: '' }
        })
        .sort(byPosition)
        .slice(0, size)
    },
    async latestWrite(accountId) {
      const written = ofAccount(accountId).map((source) => position(source, 'written_key'))
      return written.sort(byPosition).at(-1) ?? null
    },
  }
}

/** What of a listed order changes in a history. */
export interface Row {
  amount: number
  updatedAt: string | null
}

/** @throws TypeError for the source of a tombstone */
export function rowOf({ order }: Record<string, unknown>): Row {
  const { amount_total: amount, updated_at: updatedAt } = order as Order
  return { amount, updatedAt }
}
