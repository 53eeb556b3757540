import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../lib/clock.ts'
import { HOUR_MS } from '../../../lib/durations.ts'
import { NULL_INSTANT_KEY, type PageQuery, type Position } from '../../../orders/order-store.ts'
import { isPlain } from './search-body.ts'

/** Where the pages of an account's listing probably end. */
export interface PageWindows {
  /**
   * The key up to which the page is probably full, in the direction of its sort; `null` without a
   * guess. All orders beyond it follow the page, so a full page up to it is exact.
   */
  boundOf(query: PageQuery): number | null
  /** Records the density of the listing, by a full page. */
  learn(query: PageQuery, rows: readonly Position[]): void
  /** Drops the density: a page up to its bound was not full. */
  forget(query: PageQuery): void
}

/** Estimates for a listing; times in milliseconds. */
interface Density {
  msPerOrder: number
  /** The key of the first order; `null` until a first page was read. */
  firstKey: number | null
}

const MAX_LISTINGS = 20_000
/** A window has so many times the orders of the page where the density stays the same. */
const MARGIN = 4
/** About 1,500 orders a year. The search of a smaller account is as cheap without a window. */
const SPARSE_MS = 6 * HOUR_MS

/**
 * A search for a page visits thousands of orders of a large account before it has found the first
 * ones. With a range for both ends it visits those of the range, and costs the same as the page of
 * a small account. `clock`: epoch milliseconds.
 */
export function createPageWindows(clock: Clock): PageWindows {
  const densities = new LRUCache<string, Density>({ max: MAX_LISTINGS })

  return {
    boundOf(query) {
      const { after, sort, size } = query
      // Filters and a later pass change how dense the matching orders are.
      const known = isPlain(query) ? densities.get(listingOf(query)) : undefined
      const start = after?.key ?? known?.firstKey ?? null
      if (known === undefined || start === null || known.msPerOrder > SPARSE_MS) return null
      const reach = Math.ceil(MARGIN * size * known.msPerOrder)
      if (sort === 'created_at_desc') return start - reach
      // Near the end a page is seldom full, and cheap.
      return start + reach < clock() ? start + reach : null
    },

    learn(query, rows) {
      const [first, last] = [rows[0], rows.at(-1)]
      if (!isPlain(query) || rows.length < query.size || !first || !last) return
      if (last.key === NULL_INSTANT_KEY) return
      const listing = listingOf(query)
      const span = Math.abs(last.key - (query.after ?? first).key)
      densities.set(listing, {
        msPerOrder: Math.max(1, span / rows.length),
        firstKey: query.after === null ? first.key : (densities.get(listing)?.firstKey ?? null),
      })
    },

    forget(query) {
      const known = densities.get(listingOf(query))
      if (known) densities.set(listingOf(query), { ...known, msPerOrder: Infinity })
    },
  }
}

function listingOf({ accountId, sort }: PageQuery): string {
  return `${sort} ${accountId}`
}
