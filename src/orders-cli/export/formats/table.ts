import type { Item, Order } from '../../../client/client.ts'
import { type Columns, itemColumns, type Kind, orderColumns } from '../../order-columns.ts'
import { itemHeaders, orderHeaders } from './headers-pt.ts'

export const rowsNames = ['orders', 'items'] as const
/** What one row of a table represents. */
export type Rows = (typeof rowsNames)[number]

export const headersNames = ['api', 'pt'] as const
/** The header of a column: the name of its field in the API, or Portuguese words. */
export type Headers = (typeof headersNames)[number]

export interface TableOptions {
  rows: Rows
  headers: Headers
}

export interface Column {
  header: string
  kind: Kind
}

/** Orders as rows of values, each of the kind of its column; empty cells are `null`. */
export interface Table {
  columns: readonly Column[]
  rowsOf(order: Order): unknown[][]
}

/** Every field of an order as a table. */
export function createTable({ rows, headers }: TableOptions): Table {
  const isByItem = rows === 'items'
  const ofOrder = columnsOf(orderColumns, headers === 'pt' ? orderHeaders : {}, '').filter(
    ({ kind }) => !isByItem || kind !== 'items',
  )
  const ofItem = isByItem
    ? columnsOf(itemColumns, headers === 'pt' ? itemHeaders : {}, 'item.')
    : []

  return {
    columns: [...ofOrder, ...ofItem],
    rowsOf(order) {
      const values = ofOrder.map(({ keys }) => valueAt(order, keys))
      if (!isByItem) return [values]
      // An order without products still has one row.
      const items: (Item | null)[] = order.items.length === 0 ? [null] : order.items
      return items.map((item) => [...values, ...ofItem.map(({ keys }) => valueAt(item, keys))])
    },
  }
}

function columnsOf(columns: Columns, headers: Readonly<Record<string, string>>, prefix: string) {
  return Object.entries(columns).map(([path, kind]) => ({
    header: headers[path] ?? prefix + path,
    kind,
    keys: path.split('.'),
  }))
}

function valueAt(from: unknown, keys: readonly string[]): unknown {
  let value = from
  for (const key of keys) value = (value as Record<string, unknown> | null | undefined)?.[key]
  return value ?? null
}
