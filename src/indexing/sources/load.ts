import type { Change, Refusal } from '../projection/change.ts'
import type { WriteMode } from '../writing/decide.ts'
import type { Writer } from '../writing/writer.ts'
import { splitLines } from './lines.ts'
import { MAX_ORDER_BYTES, readOrder, TOO_LONG } from './read-order.ts'
import { writeAll } from './write-all.ts'

const MAX_BATCH_LINES = 500
const MAX_BATCH_BYTES = 4 * 1024 * 1024

/** What became of the lines of a load. */
export interface LoadSummary {
  /** Lines that were not blank. */
  read: number
  written: number
  unchanged: number
  /** Versions that were not newer than what is there. */
  older: number
  refused: number
  /** Customers' documents that were neither a CPF nor a CNPJ, and dropped. */
  customer_documents_dropped: number
}

export interface LoadOptions {
  writer: Writer
  mode: WriteMode
  /** Told of every refused line, in their order. */
  onRefused(lineNumber: number, refusal: Refusal): void
  /** Told after every batch, with the number of its last line. */
  onProgress(summary: Readonly<LoadSummary>, lineNumber: number): void
}

/** Writes NDJSON source orders. A refused line is told and passed over; memory stays bounded. */
export async function load(
  input: AsyncIterable<Buffer>,
  { writer, mode, onRefused, onProgress }: LoadOptions,
): Promise<LoadSummary> {
  const summary = {
    read: 0,
    written: 0,
    unchanged: 0,
    older: 0,
    refused: 0,
    customer_documents_dropped: 0,
  }

  for await (const batch of inBatches(readEntries(input))) {
    const verdicts = await writeAll(
      writer,
      batch.map(({ result }) => result),
      mode,
    )
    for (const [at, { lineNumber, result }] of batch.entries()) {
      const verdict = verdicts[at]
      summary.read++
      if (typeof verdict === 'object') {
        summary.refused++
        onRefused(lineNumber, verdict)
      } else if (verdict !== undefined) {
        summary[verdict]++
        if ('documentDropped' in result && result.documentDropped)
          summary.customer_documents_dropped++
      }
    }
    onProgress(summary, batch.at(-1)?.lineNumber ?? 0)
  }
  return summary
}

/** A line that was not blank, read. */
interface Entry {
  lineNumber: number
  bytes: number
  result: Change | Refusal
}

async function* readEntries(input: AsyncIterable<Buffer>): AsyncGenerator<Entry> {
  for await (const line of splitLines(input, MAX_ORDER_BYTES)) {
    const bytes = 'bytes' in line ? line.bytes : null
    const result = bytes === null ? TOO_LONG : readOrder(bytes)
    if (result !== null) yield { lineNumber: line.number, bytes: bytes?.length ?? 0, result }
  }
}

async function* inBatches(entries: AsyncIterable<Entry>): AsyncGenerator<Entry[]> {
  let batch: Entry[] = []
  let bytes = 0
  for await (const entry of entries) {
    if (batch.length >= MAX_BATCH_LINES || bytes >= MAX_BATCH_BYTES) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(entry)
    bytes += entry.bytes
  }
  if (batch.length > 0) yield batch
}
