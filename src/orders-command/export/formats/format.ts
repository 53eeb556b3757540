import type { Order } from '../../../client/client.ts'
import { plainCell } from './csv.ts'
import { brazilianCell } from './csv-br.ts'
import { createTable, type Rows } from './table.ts'

export const formatNames = ['ndjson', 'csv', 'csv-br'] as const
export type FormatName = (typeof formatNames)[number]

/** How orders are written. */
export interface Format {
  /** What comes before the first order. */
  head: string
  /** An order, in as many lines as it takes, each with its end. */
  encode(order: Order): string
}

/** `rows`: of CSV, whether a line is an order or a product of one. */
export function createFormat(name: FormatName, rows: Rows): Format {
  if (name === 'csv') {
    return createTable({ before: '', separator: ',', cellOf: plainCell }, rows)
  }
  if (name === 'csv-br') {
    // The mark is how Excel knows UTF-8.
    return createTable({ before: '\uFEFF', separator: ';', cellOf: brazilianCell }, rows)
  }
  // As it came: fields that are newer than this program, too.
  return { head: '', encode: (order) => `${JSON.stringify(order)}\n` }
}
