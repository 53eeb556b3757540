import type { Clock } from '../../lib/clock.ts'
import type { Change, ValidationError } from '../projection/change.ts'
import { parseOrder } from '../projection/change.ts'
import { isRejected, type WriteResult } from '../writer/decide.ts'
import type { LastWrite, OrderIndex } from '../writer/order-index.ts'
import type { Writer } from '../writer/writer.ts'
import { writeChanges } from '../writer/writer.ts'
import type { ChangeStream, LostEntries, StreamEntry } from './change-stream.ts'
import type { ReportedEntries } from './reported-entries.ts'

/** The counts of one batch. */
export interface BatchCounts {
  written: number
  unchanged: number
  /** Versions that are not newer than the index. */
  older: number
  refused: number
}

export interface BatchEvents {
  onRejected(entryId: string, error: ValidationError): void
  onLost(entries: readonly LostEntries[]): void
  /** Called after a batch is written. An entry that is read again is not counted again. */
  onBatch(counts: Readonly<BatchCounts>): void
  /**
   * Called with the last document and the times its changes entered the stream (monotonic clock).
   */
  onWritten(last: LastWrite, enteredAtMs: readonly number[]): void
}

export interface ProcessBatchOptions {
  stream: Pick<ChangeStream, 'read' | 'deadLetter' | 'acknowledge'>
  index: Pick<OrderIndex, 'lastWrite'>
  /** Writes to that index. */
  writer: Writer
  /** Shared by all batches of a watch. */
  reported: ReportedEntries
  monotonic: Clock
  events: BatchEvents
  /** Receives the reason of a delay, in words for an operator. */
  onSlow(reason: string): void
}

/** A batch needs far less than a second. */
const SLOW_WARNING_MS = 10_000

/**
 * Reads, writes and acknowledges one batch; returns the number of entries read.
 * @throws the errors of the writer and the stream
 */
export async function processNextBatch({
  stream,
  index,
  writer,
  reported,
  monotonic,
  events,
  onSlow,
}: ProcessBatchOptions): Promise<number> {
  const { entries, lost } = await stream.read()
  const readAt = monotonic()
  // Before the write, which may fail: the next read would report them again.
  if (lost.length > 0) await settleLost(stream, events, lost, reported)
  const timestampBefore = index.lastWrite()?.writeTimestamp
  const written = await withSlowWarning(onSlow, () => writeBatch(writer, entries))
  const last = index.lastWrite()
  if (last !== null && last.writeTimestamp !== timestampBefore) {
    const indexed = written.filter(({ result }) => result === 'written')
    events.onWritten(
      last,
      indexed.map(({ entry }) => readAt - entry.ageMs),
    )
  }
  // Before the acknowledgement: a call without a response may still have removed the entries.
  reportBatch(events, reported.firstResults(written))
  await acknowledgeBatch(stream, written, reported)
  if (entries.length + lost.length === 0) reported.clear()
  return entries.length
}

/**
 * Warns of a write that takes long. A store reports a failure only after the deadline of its
 * request, and a full queue only after several rejections in a row.
 */
async function withSlowWarning<T>(
  onSlow: ProcessBatchOptions['onSlow'],
  work: () => Promise<T>,
): Promise<T> {
  const seconds = SLOW_WARNING_MS / 1000
  const timer = setTimeout(
    () => onSlow(`the store has not accepted a batch for ${seconds} s; retrying`),
    SLOW_WARNING_MS,
  )
  return work().finally(() => clearTimeout(timer))
}

interface WrittenEntry {
  entry: StreamEntry
  result: WriteResult
}

/** Writes live, since clients page the index. @throws the errors of the writer */
async function writeBatch(
  writer: Writer,
  entries: readonly StreamEntry[],
): Promise<WrittenEntry[]> {
  const results = await writeChanges(writer, entries.map(parseEntry), 'live')
  return entries.map((entry, position) => ({ entry, result: results[position] ?? 'unchanged' }))
}

async function settleLost(
  stream: Pick<ChangeStream, 'acknowledge'>,
  events: BatchEvents,
  lost: readonly LostEntries[],
  reported: ReportedEntries,
): Promise<void> {
  const first = reported.firstLost(lost)
  if (first.length > 0) events.onLost(first)
  const ids = lost.map(({ id }) => id)
  await stream.acknowledge(ids)
  reported.forget(ids)
}

function reportBatch(events: BatchEvents, first: readonly WrittenEntry[]): void {
  const counts = { written: 0, unchanged: 0, older: 0, refused: 0 }
  for (const { entry, result } of first) {
    counts[isRejected(result) ? 'refused' : result]++
    if (isRejected(result)) events.onRejected(entry.id, result)
  }
  if (first.length > 0) events.onBatch(counts)
}

/** Acknowledges the written entries first: a dead letter may fail each time. */
async function acknowledgeBatch(
  stream: Pick<ChangeStream, 'deadLetter' | 'acknowledge'>,
  written: readonly WrittenEntry[],
  reported: ReportedEntries,
): Promise<void> {
  const acknowledged = []
  const deadLetters = []
  for (const { entry, result } of written) {
    if (isRejected(result)) deadLetters.push({ ...entry, error: result })
    else acknowledged.push(entry.id)
  }
  await stream.acknowledge(acknowledged)
  reported.forget(acknowledged)
  await stream.deadLetter(deadLetters)
  reported.forget(deadLetters.map(({ id }) => id))
}

const NO_ORDER: ValidationError = {
  path: '',
  reason: 'expected one source order: this entry has none, or several',
}
const BLANK: ValidationError = { path: '', reason: 'expected one JSON object; this is blank' }

function parseEntry({ order }: StreamEntry): Change | ValidationError {
  if (order === undefined) return NO_ORDER
  return parseOrder(order) ?? BLANK
}
