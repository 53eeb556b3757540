import { setImmediate } from 'node:timers/promises'
import {
  type Change,
  MAX_ORDER_BYTES,
  parseOrder,
  TOO_LONG,
  type ValidationError,
} from '../projection/change.ts'

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

/**
 * Parses NDJSON source orders from `fromLine`. Lines count from 1, blank ones too. They are yielded
 * in groups, because resuming a generator for each would cost a twentieth of a load.
 * @throws Error with the number of lines when `fromLine` is after the end
 */
export async function* parseLines(
  input: AsyncIterable<Buffer>,
  fromLine: number,
): AsyncGenerator<ParsedLine[]> {
  let count = 0
  for await (const lines of splitLines(input, MAX_ORDER_BYTES)) {
    count = lines.at(-1)?.number ?? count
    for (let at = 0; at < lines.length; at += LINES_PER_TURN) {
      const turn = lines.slice(at, at + LINES_PER_TURN).filter(({ number }) => number >= fromLine)
      if (turn.length === 0) continue
      await setImmediate()
      yield turn.flatMap((line) => parseLine(line) ?? [])
    }
  }
  // The next line after the last is what a load prints that stopped at the end.
  if (fromLine > count + 1) {
    throw new Error(`cannot start at line ${fromLine}: the number of lines is ${count}`)
  }
}

/** `null` for a blank line. */
function parseLine({ number, ...line }: Line): ParsedLine | null {
  const content = 'bytes' in line ? line.bytes : null
  const result = content === null ? TOO_LONG : parseOrder(content)
  if (result === null) return null
  return { lineNumber: number, bytes: content?.length ?? 0, line: content, result }
}

/** Whether the customer's document was neither a CPF nor a CNPJ, and dropped. */
export function hasDroppedDocument({ result }: ParsedLine): boolean {
  return 'documentDropped' in result && result.documentDropped
}

const NEWLINE = 0x0a

/** A line of the input, without its line break; `number` counts from 1. */
export type Line = { number: number } & ({ bytes: Buffer } | { tooLong: true })

/**
 * Splits a stream into lines, and yields those that end in each chunk. Holds at most `maxBytes` and
 * one chunk: the rest of a longer line is skipped and the line is reported as too long.
 */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Line[]> {
  let number = 1
  let pieces: Buffer[] = []
  let lineBytes = 0

  const finishLine = (): Line => {
    const line = lineBytes > maxBytes ? { tooLong: true as const } : { bytes: joined(pieces) }
    pieces = []
    lineBytes = 0
    return { number: number++, ...line }
  }
  const append = (piece: Buffer) => {
    lineBytes += piece.length
    if (lineBytes <= maxBytes) pieces.push(piece)
    else pieces = []
  }

  for await (const chunk of chunks) {
    const lines: Line[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      append(chunk.subarray(start, end))
      lines.push(finishLine())
      start = end + 1
    }
    append(chunk.subarray(start))
    if (lines.length > 0) yield lines
  }
  if (lineBytes > 0) yield [finishLine()]
}

/** One buffer; a view of the chunk for a line within one. */
function joined(pieces: readonly Buffer[]): Buffer {
  const [only = Buffer.alloc(0)] = pieces
  return pieces.length > 1 ? Buffer.concat(pieces) : only
}

/** The limits of a batch: large enough to amortise a round trip, in bounded memory. */
export interface BatchLimits {
  entries: number
  bytes: number
}

/**
 * Divides groups of entries into batches, in their order. The entry that reaches either limit
 * closes its batch.
 */
export async function* inBatches<T extends { bytes: number }>(
  groups: AsyncIterable<readonly T[]> | Iterable<readonly T[]>,
  limits: BatchLimits,
): AsyncGenerator<T[]> {
  let batch: T[] = []
  let bytes = 0
  for await (const group of groups) {
    for (const entry of group) {
      batch.push(entry)
      bytes += entry.bytes
      if (batch.length >= limits.entries || bytes >= limits.bytes) {
        yield batch
        batch = []
        bytes = 0
      }
    }
  }
  if (batch.length > 0) yield batch
}
