import { Readable } from 'node:stream'
import { isValidationError } from '../../indexing/projection/change.ts'
import { type ParsedLine, parseLines } from '../../indexing/sources/ndjson.ts'
import { parseJson } from '../../lib/text/json.ts'
import { isOrderId } from '../../orders/order.ts'
import { ManagementError } from '../management-error.ts'

/** The media types of a body of source orders. */
export type SourceOrdersFormat = 'application/x-ndjson' | 'application/json'

export const MAX_LINES = 1_000
/**
 * Blank lines are not counted as orders, but millions of them would take a processor for seconds.
 */
const MAX_LINE_BREAKS = 10_000
const LINE_BREAK = 0x0a

/**
 * Parses a body into its lines that are not blank. Lines count from 1, blank ones too; the elements
 * of a JSON array count as lines.
 * @throws ManagementError `too_many_lines`, `invalid_list`
 */
export async function parseSourceLines(
  body: Buffer,
  format: SourceOrdersFormat,
): Promise<ParsedLine[]> {
  const text = format === 'application/json' ? listToLines(body) : body
  if (hasTooManyBreaks(text)) throw tooManyLines()
  const lines: ParsedLine[] = []
  for await (const group of parseLines(Readable.from([text]), 1)) {
    lines.push(...group)
    if (lines.length > MAX_LINES) throw tooManyLines()
  }
  return lines
}

function hasTooManyBreaks(text: Buffer): boolean {
  let breaks = 0
  for (let at = -1; breaks <= MAX_LINE_BREAKS; breaks += 1) {
    at = text.indexOf(LINE_BREAK, at + 1)
    if (at < 0) return false
  }
  return true
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** One form leads to the writer and to the stream, which keeps the bytes of each order. */
function listToLines(body: Buffer): Buffer {
  const list = parseList(body)
  if (!Array.isArray(list)) {
    throw new ManagementError('invalid_list', 'expected a JSON array of source orders')
  }
  if (list.length > MAX_LINES) throw tooManyLines()
  try {
    return Buffer.from(list.map((element) => JSON.stringify(element, keepInfinite)).join('\n'))
  } catch {
    // JSON.stringify is recursive, and JSON.parse is not.
    throw new ManagementError('invalid_list', 'the JSON array is nested too deeply')
  }
}

/** JSON.stringify turns a number beyond all others into `null`, which many fields accept. */
const keepInfinite = (_name: string, value: unknown) =>
  value === Infinity || value === -Infinity ? String(value) : value

function parseList(body: Buffer): unknown {
  try {
    return parseJson(utf8.decode(body))
  } catch {
    throw new ManagementError('invalid_list', 'the body is not JSON')
  }
}

function tooManyLines(): ManagementError {
  return new ManagementError('too_many_lines', `send at most ${MAX_LINES} source orders in a call`)
}

/** The order id of a line, also of a rejected one; `null` when it has none that is valid. */
export function orderIdOf({ line, result }: ParsedLine): string | null {
  if (!isValidationError(result)) return result.orderId
  if (line === null) return null
  try {
    const { id } = Object(parseJson(utf8.decode(line)))
    return typeof id === 'string' && isOrderId(id) ? id : null
  } catch {
    return null
  }
}
