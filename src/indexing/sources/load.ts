import type { Refusal } from '../projection/change.ts'
import type { WriteMode } from '../writing/decide.ts'
import { renderAhead } from '../writing/document.ts'
import type { Writer } from '../writing/writer.ts'
import { type BatchLimits, inBatches } from './batches.ts'
import { type Entry, hasDroppedDocument, readEntries } from './entries.ts'
import { inTurn } from './in-turn.ts'
import { writeAll } from './write-all.ts'

/** What a load writes together. */
export const LOAD_BATCH: BatchLimits = { entries: 1_000, bytes: 4 * 1024 * 1024 }
/** One whose heads are written, one whose documents are, and one that is looked up and decided. */
const MAX_BATCHES = 3

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
  /** The first line that is written, counted from 1: a load that stopped goes on there. */
  fromLine?: number
  /** Told of every refused line, in their order. */
  onRefused(lineNumber: number, refusal: Refusal): void
  /** Told after every batch, with the number of its last line: all up to there is in. */
  onProgress(summary: Readonly<LoadSummary>, lineNumber: number): void
}

/**
 * Writes NDJSON source orders. A refused line is told and passed over; memory stays bounded: some
 * batches are written while the next one is read.
 */
export async function load(
  input: AsyncIterable<Buffer>,
  { writer, mode, fromLine = 1, onRefused, onProgress }: LoadOptions,
): Promise<LoadSummary> {
  const summary = {
    read: 0,
    written: 0,
    unchanged: 0,
    older: 0,
    refused: 0,
    customer_documents_dropped: 0,
  }

  const write = (batch: readonly Entry[]) =>
    writeAll(
      writer,
      batch.map(({ result }) => result),
      mode,
    )
  const batches = inBatches(renderingAhead(readEntries(input, fromLine)), LOAD_BATCH)
  for await (const { value: batch, result: verdicts } of inTurn(batches, write, MAX_BATCHES)) {
    for (const [at, entry] of batch.entries()) {
      const verdict = verdicts[at]
      summary.read++
      if (typeof verdict === 'object') {
        summary.refused++
        onRefused(entry.lineNumber, verdict)
      } else if (verdict !== undefined) {
        summary[verdict]++
        if (hasDroppedDocument(entry)) summary.customer_documents_dropped++
      }
    }
    onProgress(summary, batch.at(-1)?.lineNumber ?? 0)
  }
  return summary
}

/** Renders what is read, as while the batches before it are written. */
async function* renderingAhead(entries: AsyncIterable<Entry>): AsyncGenerator<Entry> {
  for await (const entry of entries) {
    if ('views' in entry.result) for (const { order } of entry.result.views) renderAhead(order)
    yield entry
  }
}
