import { setImmediate } from 'node:timers/promises'
import type { Change, Refusal } from '../projection/change.ts'
import { splitLines } from './lines.ts'
import { MAX_ORDER_BYTES, readOrder, TOO_LONG } from './read-order.ts'

/** A line that was not blank, read. */
export interface Entry {
  lineNumber: number
  bytes: number
  /** As it stood there; `null` where it was too long to be held. */
  line: Buffer | null
  result: Change | Refusal
}

/** So few that what is written meanwhile waits for a millisecond at most. */
const LINES_AT_A_TIME = 16

/** Reads NDJSON source orders, from this line on; lines count from 1, blank ones too. */
export async function* readEntries(
  input: AsyncIterable<Buffer>,
  fromLine: number,
): AsyncGenerator<Entry> {
  for await (const line of splitLines(input, MAX_ORDER_BYTES)) {
    if (line.number < fromLine) continue
    if (line.number % LINES_AT_A_TIME === 0) await setImmediate()
    const held = 'bytes' in line ? line.bytes : null
    const result = held === null ? TOO_LONG : readOrder(held)
    if (result === null) continue
    yield { lineNumber: line.number, bytes: held?.length ?? 0, line: held, result }
  }
}

/** Whether the customer's document was neither a CPF nor a CNPJ, and dropped. */
export function hasDroppedDocument({ result }: Entry): boolean {
  return 'documentDropped' in result && result.documentDropped
}
