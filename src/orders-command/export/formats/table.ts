import type { Item, Order } from '../../../client/client.ts'
import { type Columns, itemColumns, type Kind, orderColumns } from './columns.ts'
import type { Format } from './format.ts'

export const rowsNames = ['orders', 'items'] as const
/** What a line stands for. */
export type Rows = (typeof rowsNames)[number]

export interface Dialect {
  /** Before everything. */
  before: string
  separator: ',' | ';'
  /** The text of a cell, not quoted yet. The value is not `null`. */
  cellOf(value: unknown, kind: Kind): string
}

interface Column {
  name: string
  kind: Kind
  keys: readonly string[]
}

/** CSV in the form of RFC 4180: lines end with CRLF, and what would be mistaken for a separator is in quotes. */
export function createTable({ before, separator, cellOf }: Dialect, rows: Rows): Format {
  const ofItem = rows === 'items' ? columnsOf(itemColumns, 'item.') : []
  const ofOrder = columnsOf(orderColumns).filter(
    ({ kind }) => rows === 'orders' || kind !== 'items',
  )

  const line = (cells: readonly string[]) =>
    `${cells.map((cell) => quoted(cell, separator)).join(separator)}\r\n`

  const cellsOf = (from: unknown, columns: readonly Column[]) =>
    columns.map(({ keys, kind }) => {
      const value = valueAt(from, keys)
      return value === null || value === undefined ? '' : cellOf(value, kind)
    })

  return {
    head: before + line([...ofOrder, ...ofItem].map(({ name }) => name)),
    encode(order: Order) {
      const cells = cellsOf(order, ofOrder)
      if (rows === 'orders') return line(cells)
      // An order without products has its line all the same.
      const items: (Item | null)[] = order.items.length === 0 ? [null] : order.items
      return items.map((item) => line([...cells, ...cellsOf(item, ofItem)])).join('')
    },
  }
}

function columnsOf(columns: Columns, prefix = ''): Column[] {
  return Object.entries(columns).map(([path, kind]) => ({
    name: prefix + path,
    kind,
    keys: path.split('.'),
  }))
}

function valueAt(from: unknown, keys: readonly string[]): unknown {
  let value = from
  for (const key of keys) value = (value as Record<string, unknown> | null | undefined)?.[key]
  return value
}

function quoted(cell: string, separator: string): string {
  const isPlain = !/["\r\n]|^\s|\s$/.test(cell) && !cell.includes(separator)
  return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`
}
