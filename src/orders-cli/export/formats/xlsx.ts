import type { Order } from '../../../client/client.ts'
import { brasiliaDate } from '../../dates/brasilia-time.ts'
import { CommandError } from '../../errors.ts'
import type { Kind } from '../../order-columns.ts'
import { cellText } from './cell-text.ts'
import { itemsText } from './csv-br.ts'
import type { Table } from './table.ts'

type Cell = string | number | Date | null

/** The number formats of Excel; Excel shows them with the separators of its language. */
const NUMBER_FORMATS: Partial<Record<Kind, string>> = {
  cents: '#,##0.00',
  instant: 'dd/mm/yyyy hh:mm:ss',
}
const WIDTHS: Partial<Record<Kind, number>> = { cents: 14, instant: 19, integer: 10, items: 40 }
const TEXT_WIDTH = 22
/**
 * Rows of one sheet, with the header; Excel accepts 1,048,576. Fewer keep the sheet below 4 GiB:
 * beyond that it needs ZIP64, which some readers of streamed files do not know.
 */
const MAX_ROWS = 300_001

/**
 * A workbook with one row per order or product, as a stream: neither the orders nor the file are in
 * memory as a whole. Rows beyond `MAX_ROWS` continue on another sheet.
 */
export async function writeXlsx(
  orders: AsyncIterable<Order>,
  { columns, rowsOf }: Table,
): Promise<AsyncIterable<Uint8Array>> {
  const { writeXlsxStream } = await loadXlsxWriter()
  async function* rows(): AsyncGenerator<Cell[]> {
    for await (const order of orders) {
      for (const row of rowsOf(order)) {
        yield row.map((value, at) => cellOf(value, columns[at]?.kind ?? 'text'))
      }
    }
  }
  return writeXlsxStream(rows(), {
    name: 'Pedidos',
    columns: columns.map(({ header, kind }) => ({
      header,
      width: WIDTHS[kind] ?? TEXT_WIDTH,
      ...(NUMBER_FORMATS[kind] !== undefined && { numFmt: NUMBER_FORMATS[kind] }),
    })),
    freezePane: { rows: 1 },
    maxRowsPerSheet: MAX_ROWS,
    compress: canCompress(),
  })
}

/** @throws CommandError without the writer, which only the package of this command installs */
export function loadXlsxWriter(): Promise<typeof import('hucre/xlsx')> {
  return import('hucre/xlsx').catch((cause) => {
    throw new CommandError(
      'O formato xlsx precisa do pacote public-orders-cli, que traz a biblioteca de planilhas. Instale-o, ou use --format csv-br.',
      { cause },
    )
  })
}

/** Node before 20.12 has no raw deflate; its files are larger. */
function canCompress(): boolean {
  try {
    return Boolean(new CompressionStream('deflate-raw'))
  } catch {
    return false
  }
}

/** A typed cell. Text stays text: only CSV makes Excel guess numbers and formulas. */
function cellOf(value: unknown, kind: Kind): Cell {
  if (value === null) return null
  if (typeof value === 'number') return kind === 'cents' ? value / 100 : value
  if (kind === 'items' && Array.isArray(value)) return literal(itemsText(value))
  const date = kind === 'instant' ? brasiliaDate(String(value)) : null
  return date ?? literal(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** Spreadsheets read `_x0041_` in a text as the character of that code. */
function literal(text: string): string {
  return cellText(text)
    .replace(/[\ufffe\uffff]/g, '') // Not allowed in XML.
    .replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_')
}
