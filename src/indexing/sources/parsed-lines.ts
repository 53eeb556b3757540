import { setImmediate } from 'node:timers/promises'
import type { Change, ValidationError } from '../projection/change.ts'
import { splitLines } from './line-splitter.ts'
import { MAX_ORDER_BYTES, parseOrder, TOO_LONG } from './order-parser.ts'

/** A parsed line that was not blank. */
export interface ParsedLine {
  lineNumber: number
  bytes: number
  /** The bytes of the line; `null` when it was too long. */
  line: Buffer | null
  result: Change | ValidationError
}

/** Few enough that concurrent writes wait for a millisecond at most. */
const LINES_PER_TURN = 16

/** Parses NDJSON source orders from `fromLine`. Lines count from 1, blank ones too. */
export async function* parseLines(
  input: AsyncIterable<Buffer>,
  fromLine: number,
): AsyncGenerator<ParsedLine> {
  for await (const line of splitLines(input, MAX_ORDER_BYTES)) {
    if (line.number < fromLine) continue
    if (line.number % LINES_PER_TURN === 0) await setImmediate()
    const content = 'bytes' in line ? line.bytes : null
    const result = content === null ? TOO_LONG : parseOrder(content)
    if (result === null) continue
    yield { lineNumber: line.number, bytes: content?.length ?? 0, line: content, result }
  }
}

/** Whether the customer's document was neither a CPF nor a CNPJ, and dropped. */
export function hasDroppedDocument({ result }: ParsedLine): boolean {
  return 'documentDropped' in result && result.documentDropped
}
