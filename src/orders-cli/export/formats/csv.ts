import type { Order } from '../../../client/client.ts'
import type { Kind } from '../../order-columns.ts'
import type { Table } from './table.ts'

/** How orders are written as lines. */
export interface LineFormat {
  /** The text before the first order. */
  head: string
  /** The lines of an order, each with its line break. */
  encode(order: Order): string
}

export interface Dialect {
  /** The text before the header. */
  before: string
  separator: ',' | ';'
  /** The text of a cell before quoting. The value is never `null`. */
  cellOf(value: unknown, kind: Kind): string
}

/** A cell for programs: values as in the API, lists and objects as JSON. */
export function plainCell(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** CSV by RFC 4180: lines end with CRLF, and cells with separators are quoted. */
export function createCsv({ before, separator, cellOf }: Dialect, table: Table): LineFormat {
  const kinds = table.columns.map(({ kind }) => kind)
  const line = (cells: readonly string[]) =>
    `${cells.map((cell) => quoted(cell, separator)).join(separator)}\r\n`
  const textOf = (value: unknown, at: number) =>
    value === null ? '' : cellOf(value, kinds[at] ?? 'text')

  return {
    head: before + line(table.columns.map(({ header }) => header)),
    encode: (order) =>
      table
        .rowsOf(order)
        .map((row) => line(row.map(textOf)))
        .join(''),
  }
}

function quoted(cell: string, separator: string): string {
  const isPlain = !/["\r\n]|^\s|\s$/.test(cell) && !cell.includes(separator)
  return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`
}
