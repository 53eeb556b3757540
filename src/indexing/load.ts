import { type Change, isRefusal, type Refusal, readChange } from './change.ts'
import type { WriteMode } from './decide.ts'
import { type Line, splitLines } from './lines.ts'
import type { Writer } from './writer.ts'

const MAX_LINE_BYTES = 4 * 1024 * 1024
const MAX_BULK_LINES = 500
const MAX_BULK_BYTES = 4 * 1024 * 1024

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
  /** Told of every refused line, in their order within a bulk. */
  onRefused(lineNumber: number, refusal: Refusal): void
  /** Told after every bulk, with the number of its last line. */
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

  for await (const bulk of inBulks(readEntries(input))) {
    const changes = bulk.flatMap(({ result }) => (isRefusal(result) ? [] : [result]))
    const verdicts = changes.length > 0 ? await writer.write(changes, mode) : []
    const nextVerdict = verdicts.values()

    for (const { lineNumber, result } of bulk) {
      summary.read++
      const verdict = isRefusal(result) ? result : nextVerdict.next().value
      if (verdict === undefined) throw new Error('the writer told no verdict of a change')
      if (typeof verdict === 'object') {
        summary.refused++
        onRefused(lineNumber, verdict)
      } else {
        summary[verdict]++
        if ('documentDropped' in result && result.documentDropped)
          summary.customer_documents_dropped++
      }
    }
    onProgress(summary, bulk.at(-1)?.lineNumber ?? 0)
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
  for await (const line of splitLines(input, MAX_LINE_BYTES)) {
    const text = lineText(line)
    if (text === '') continue
    yield {
      lineNumber: line.number,
      bytes: 'bytes' in line ? line.bytes.length : 0,
      result: typeof text === 'string' ? readChange(text) : text,
    }
  }
}

/** A bulk has one stamp and one verdict an order, so two versions of an order go into two bulks. */
async function* inBulks(entries: AsyncIterable<Entry>): AsyncGenerator<Entry[]> {
  let bulk: Entry[] = []
  let bytes = 0
  const orderIds = new Set<string>()

  for await (const entry of entries) {
    const orderId = isRefusal(entry.result) ? null : entry.result.orderId
    const full = bulk.length >= MAX_BULK_LINES || bytes >= MAX_BULK_BYTES
    if (full || (orderId !== null && orderIds.has(orderId))) {
      yield bulk
      bulk = []
      bytes = 0
      orderIds.clear()
    }
    bulk.push(entry)
    bytes += entry.bytes
    if (orderId !== null) orderIds.add(orderId)
  }
  if (bulk.length > 0) yield bulk
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The text of a line, empty for a blank one. */
function lineText(line: Line): string | Refusal {
  if ('tooLong' in line) return { path: '', reason: `longer than ${MAX_LINE_BYTES} bytes` }
  try {
    return utf8.decode(line.bytes).trim()
  } catch {
    return { path: '', reason: 'not valid UTF-8' }
  }
}
