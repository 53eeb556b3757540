import type { Order } from '../../../client/client.ts'
import { escapeLineEnds } from '../../../lib/text/control-characters.ts'
import { createCsv, type LineFormat, plainCell } from './csv.ts'
import { brazilianCell } from './csv-br.ts'
import { createTable, type TableOptions } from './table.ts'
import { writeXlsx } from './xlsx.ts'

export const formatNames = ['ndjson', 'csv', 'csv-br', 'xlsx'] as const
export type FormatName = (typeof formatNames)[number]

/** The extensions of files that programs open by their name → the formats that they can read. */
export const formatsOfExtensions = new Map<string, readonly FormatName[]>([
  ['.csv', ['csv', 'csv-br']],
  ['.xlsx', ['xlsx']],
  ['.ndjson', ['ndjson']],
])

/** How orders are written. */
export interface Format extends LineFormat {
  /**
   * The bytes of the final file, for a format that no process could continue after a crash. Until
   * all orders are there, `encode` writes them as NDJSON.
   */
  assemble?(orders: AsyncIterable<Order>): Promise<AsyncIterable<Uint8Array>>
}

/** Creates the writer of a format. `ndjson` has a line per order and no table. */
export function createFormat(name: FormatName, options: TableOptions): Format {
  // The whole order, so that fields newer than this program are exported too.
  const ndjson: Format = {
    head: '',
    encode: (order) => `${escapeLineEnds(JSON.stringify(order))}\n`,
  }
  if (name === 'ndjson') return ndjson
  const table = createTable(options)
  if (name === 'xlsx') return { ...ndjson, assemble: (orders) => writeXlsx(orders, table) }
  if (name === 'csv') {
    return createCsv({ before: '', separator: ',', cellOf: plainCell }, table)
  }
  // Excel recognizes UTF-8 by the byte order mark.
  return createCsv({ before: '\uFEFF', separator: ';', cellOf: brazilianCell }, table)
}
