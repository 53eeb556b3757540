import { formatInstant } from '../../../src/lib/instant.ts'
import { orderFilters } from '../../../src/orders/filters/filter-table.ts'
import type { InstantRange, OrderFilters } from '../../../src/orders/filters/filters.ts'
import { type Lookups, lookupsOf, paidAtOf } from '../../../src/orders/lookups.ts'
import { isAfter, NULL_INSTANT_KEY, type Sort } from '../../../src/orders/order-store.ts'
import type { BenchOrders, Listing } from './orders.ts'

/** The fields of an order by which the measured filters find it, and its place in each sort. */
export interface FilteredOrder {
  id: string
  created_at_desc: number
  updated_at_asc: number
  paidAt: number | null
  lookups: Lookups
}

export function filteredOrders(orders: BenchOrders, accountId: string): FilteredOrder[] {
  return [...orders.views()]
    .filter((view) => view.accountId === accountId)
    .map(({ orderId, order, createdKey, updatedAt }) => ({
      id: orderId,
      created_at_desc: createdKey,
      updated_at_asc: typeof updatedAt === 'number' ? updatedAt : NULL_INSTANT_KEY,
      paidAt: paidAtOf(order),
      lookups: lookupsOf(order),
    }))
}

/** The orders that the filters by text and by payment match; ignores the other filters. */
export function filteredListing(
  orders: readonly FilteredOrder[],
  sort: Sort,
  { productIds, customerEmails, customerDocuments, paid }: OrderFilters,
): Listing {
  const hasOne = (texts: readonly string[], wanted: readonly string[]) =>
    wanted.length === 0 || wanted.some((text) => texts.includes(text))
  const positions = orders
    .filter(({ lookups }) => hasOne(lookups.product_ids, productIds))
    .filter(({ lookups }) => hasOne(lookups.customer_email, customerEmails))
    .filter(({ lookups }) => hasOne(lookups.customer_document, customerDocuments))
    .filter(({ paidAt }) => isWithin(paidAt, paid))
    .map((order) => ({ key: order[sort], id: order.id }))
    .toSorted((one, other) => (isAfter(one, other, sort) ? 1 : -1))
  return {
    size: positions.length,
    at(row) {
      const position = positions[row]
      if (position === undefined) throw new Error(`the listing has no row ${row}`)
      return position
    },
    lastDated: positions.findLast(({ key }) => key !== NULL_INSTANT_KEY) ?? null,
  }
}

function isWithin(instant: number | null, { gte, lt }: InstantRange): boolean {
  if (gte === undefined && lt === undefined) return true
  return instant !== null && instant >= (gte ?? instant) && (lt === undefined || instant < lt)
}

/** The query parameters of these filters. */
export function filterParams(filters: OrderFilters): Record<string, string> {
  const params = Object.entries(orderFilters).flatMap(([name, filter]) => {
    const given = filters[name as keyof OrderFilters]
    if (filter.kind !== 'range') {
      const values = given as readonly string[]
      return values.length === 0 ? [] : [[filter.param, values.join()]]
    }
    const { gte, lt } = given as InstantRange
    return [
      ...(gte === undefined ? [] : [[filter.gte.param, formatInstant(gte)]]),
      ...(lt === undefined ? [] : [[filter.lt.param, formatInstant(lt)]]),
    ]
  })
  return Object.fromEntries(params)
}
