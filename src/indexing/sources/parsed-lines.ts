import { setImmediate } from 'node:timers/promises'
import type { Change, ValidationError } from '../projection/change.ts'
import { splitLines } from './line-splitter.ts'
import { MAX_ORDER_BYTES, parseOrder, TOO_LONG } from './order-parser.ts'

/** A line that was not blank, read. */
export interface ParsedLine {
  lineNumber: number
  bytes: number
  /** As it stood there; `null` where it was too long to be held. */
  line: Buffer | null
  result: Change | ValidationError
}

/** So few that what is written meanwhile waits for a millisecond at most. */
const LINES_PER_TURN = 16

/** Reads NDJSON source orders, from this line on; lines count from 1, blank ones too. */
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
