import type { Item, Order } from '../../../client/client.ts'
import { type Columns, itemColumns, type Kind, orderColumns } from './columns.ts'
import { brazilianCell } from './csv-br.ts'

export const formatNames = ['ndjson', 'csv', 'csv-br'] as const
export type FormatName = (typeof formatNames)[number]

export const rowsNames = ['orders', 'items'] as const
/** What one line of CSV represents. */
export type Rows = (typeof rowsNames)[number]

/** How orders are written. */
export interface Format {
  /** The text before the first order. */
  head: string
  /** The lines of an order, each with its line break. */
  encode(order: Order): string
}

/**
 * Creates the writer of a format. `rows` decides between a line per order and one per item;
 * `ndjson` always has a line per order.
 */
export function createFormat(name: FormatName, rows: Rows): Format {
  if (name === 'csv') return createTable({ before: '', separator: ',', cellOf: plainCell }, rows)
  if (name === 'csv-br') {
    // Excel recognizes UTF-8 by the byte order mark.
    return createTable({ before: '\uFEFF', separator: ';', cellOf: brazilianCell }, rows)
  }
  // Unchanged, so that fields newer than this program are exported too.
  return { head: '', encode: (order) => `${JSON.stringify(order)}\n` }
}

/** A cell for programs: values as in the API, lists and objects as JSON. */
function plainCell(value: unknown, _kind: Kind): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

interface Dialect {
  /** The text before the header. */
  before: string
  separator: ',' | ';'
  /** The text of a cell before quoting. The value is never `null`. */
  cellOf(value: unknown, kind: Kind): string
}

interface Column {
  name: string
  kind: Kind
  keys: readonly string[]
}

/** CSV by RFC 4180: lines end with CRLF, and cells with separators are quoted. */
function createTable({ before, separator, cellOf }: Dialect, rows: Rows): Format {
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
      // An order without products still has one line.
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
