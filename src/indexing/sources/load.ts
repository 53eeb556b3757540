import { createKeyedLock } from '../../lib/async/keyed-lock.ts'
import { isValidationError, type ValidationError } from '../projection/change.ts'
import { isRejected, type WriteResult } from '../writer/decide.ts'
import { prerender } from '../writer/order-document.ts'
import type { WriteMode } from '../writer/order-index.ts'
import type { Writer } from '../writer/writer.ts'
import { writeChanges } from '../writer/writer.ts'
import {
  type BatchLimits,
  hasDroppedDocument,
  inBatches,
  type ParsedLine,
  parseLines,
} from './ndjson.ts'
import { orderedConcurrentMap } from './ordered-concurrent-map.ts'

/** The size of one bulk of a load. */
export const LOAD_BATCH: BatchLimits = { entries: 1_000, bytes: 4 * 1024 * 1024 }
/** One writes version records, one writes documents, and one loads and decides. */
const MAX_CONCURRENT_BATCHES = 3

/** The counts of a load. */
export interface LoadSummary {
  /** Lines that were not blank. */
  read: number
  written: number
  unchanged: number
  /** Versions that are not newer than the index. */
  older: number
  refused: number
  /** Dropped customers' documents: neither a CPF nor a CNPJ. */
  customer_documents_dropped: number
}

export interface LoadOptions {
  writer: Writer
  mode: WriteMode
  /** The first line to write, counted from 1, to resume a stopped load. */
  fromLine?: number
  /** Called for each rejected line, in their order. */
  onRejected(lineNumber: number, error: ValidationError): void
  /** Called after each batch with its last line number: the index has every line up to it. */
  onProgress(summary: Readonly<LoadSummary>, lineNumber: number): void
}

/**
 * Writes NDJSON source orders. Rejected lines are reported and skipped. Memory stays bounded: a
 * fixed number of batches is written while the next one is read.
 */
export async function load(
  input: AsyncIterable<Buffer>,
  { writer, mode, fromLine = 1, onRejected, onProgress }: LoadOptions,
): Promise<LoadSummary> {
  const summary = {
    read: 0,
    written: 0,
    unchanged: 0,
    older: 0,
    refused: 0,
    customer_documents_dropped: 0,
  }

  const write = createBatchWriter(writer, mode)
  const batches = inBatches(prerendered(parseLines(input, fromLine)), LOAD_BATCH)
  for await (const { value: batch, result: results } of orderedConcurrentMap(
    batches,
    write,
    MAX_CONCURRENT_BATCHES,
  )) {
    for (const [position, entry] of batch.entries()) {
      const result = results[position]
      summary.read++
      if (isRejected(result)) {
        summary.refused++
        onRejected(entry.lineNumber, result)
      } else if (result !== undefined) {
        summary[result]++
        if (hasDroppedDocument(entry)) summary.customer_documents_dropped++
      }
    }
    onProgress(summary, batch.at(-1)?.lineNumber ?? 0)
  }
  return summary
}

/**
 * Writes a batch once every earlier one with the same orders is written; others overlap. After a
 * failure no further batch starts. A newer version of an order would make the failed one count as
 * older in the resumed load, which would lose its events.
 */
function createBatchWriter(
  writer: Writer,
  mode: WriteMode,
): (batch: readonly ParsedLine[]) => Promise<WriteResult[]> {
  const keyedLock = createKeyedLock()
  let failure: { error: unknown } | null = null
  return async (batch) => {
    const entries = batch.map(({ result }) => result)
    const session = keyedLock.openSession()
    await session.acquire(
      entries.flatMap((entry) => (isValidationError(entry) ? [] : [entry.orderId])),
    )
    try {
      if (failure !== null) throw failure.error
      return await writeChanges(writer, entries, mode)
    } catch (error) {
      failure ??= { error }
      throw error
    } finally {
      session.release()
    }
  }
}

/** Renders orders while earlier batches are written. */
async function* prerendered(groups: AsyncIterable<ParsedLine[]>): AsyncGenerator<ParsedLine[]> {
  for await (const group of groups) {
    for (const line of group) prerenderLine(line)
    yield group
  }
}

/** Renders the orders of a line early, while earlier batches are written. */
export function prerenderLine({ result }: ParsedLine): void {
  if ('views' in result) for (const { order } of result.views) prerender(order)
}
