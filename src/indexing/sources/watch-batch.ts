import type { Clock } from '../../lib/clock.ts'
import type { Change, Refusal } from '../projection/change.ts'
import type { Verdict } from '../writing/decide.ts'
import type { LastWrite, OrderIndex } from '../writing/order-index.ts'
import type { Writer } from '../writing/writer.ts'
import type { ChangeStream, StreamEntry } from './change-stream.ts'
import { readOrder } from './read-order.ts'
import { writeAll } from './write-all.ts'

/** What became of the entries of a batch. */
export interface BatchCounts {
  written: number
  unchanged: number
  /** Versions that were not newer than what is there. */
  older: number
  refused: number
}

export interface BatchEvents {
  onRefused(entryId: string, refusal: { path: string; reason: string }): void
  /** Entries that were delivered and never written, and are gone from the stream. */
  onLost(entryIds: readonly string[]): void
  /** A batch is written and acknowledged. */
  onBatch(counts: Readonly<BatchCounts>): void
  /** Documents were written: the last of them, and when the changes came into the stream (monotonic clock). */
  onWritten(last: LastWrite, enteredAtMs: readonly number[]): void
}

export interface NextBatchOptions {
  stream: Pick<ChangeStream, 'read' | 'park' | 'acknowledge'>
  index: Pick<OrderIndex, 'lastWrite'>
  /** Into that index. */
  writer: Writer
  monotonic: Clock
  events: BatchEvents
  /** Told why nothing has been written for a while, in words for an operator. */
  onSlow(reason: string): void
}

/** A batch takes far less than a second. */
const SLOW_MS = 10_000

/**
 * One batch, from its reading to its acknowledgement; answers how many entries were read.
 * @throws as the writer and the stream
 */
export async function writeNextBatch({
  stream,
  index,
  writer,
  monotonic,
  events,
  onSlow,
}: NextBatchOptions): Promise<number> {
  const { entries, lost } = await stream.read()
  const readAt = monotonic()
  if (lost.length > 0) events.onLost(lost)
  const before = index.lastWrite()?.stamp
  const written = await tellingSlowness(onSlow, () => writeBatch(writer, entries))
  const last = index.lastWrite()
  if (last !== null && last.stamp !== before) {
    const news = written.filter(({ verdict }) => verdict === 'written')
    events.onWritten(
      last,
      news.map(({ entry }) => readAt - entry.ageMs),
    )
  }
  const counts = await settleBatch(stream, written, lost)
  for (const { entry, verdict } of written) {
    if (typeof verdict === 'object') events.onRefused(entry.id, verdict)
  }
  if (entries.length > 0) events.onBatch(counts)
  return entries.length
}

/** A store waits by itself where it may pass soon, as with a full disk, and says nothing of it. */
async function tellingSlowness<T>(
  onSlow: NextBatchOptions['onSlow'],
  work: () => Promise<T>,
): Promise<T> {
  const seconds = SLOW_MS / 1000
  const timer = setTimeout(
    () => onSlow(`the store has not taken a batch for ${seconds} s; still trying`),
    SLOW_MS,
  )
  return work().finally(() => clearTimeout(timer))
}

interface WrittenEntry {
  entry: StreamEntry
  verdict: Verdict
}

/** Writes what the entries hold; every change is stamped, since clients page. @throws as the writer */
async function writeBatch(
  writer: Writer,
  entries: readonly StreamEntry[],
): Promise<WrittenEntry[]> {
  const verdicts = await writeAll(writer, entries.map(readEntry), 'live')
  return entries.map((entry, at) => ({ entry, verdict: verdicts[at] ?? 'unchanged' }))
}

/** Parks what was refused, then acknowledges all. `lost`: ids of entries that are gone. */
async function settleBatch(
  stream: Pick<ChangeStream, 'park' | 'acknowledge'>,
  written: readonly WrittenEntry[],
  lost: readonly string[],
): Promise<BatchCounts> {
  const counts = { written: 0, unchanged: 0, older: 0, refused: 0 }
  const done = [...lost]
  const refused = []
  for (const { entry, verdict } of written) {
    if (typeof verdict === 'object') {
      counts.refused++
      refused.push({ ...entry, refusal: verdict })
    } else {
      counts[verdict]++
      done.push(entry.id)
    }
  }
  await stream.park(refused)
  await stream.acknowledge(done)
  return counts
}

const NO_ORDER: Refusal = { path: '', reason: 'expected an entry with one field "order"' }
const BLANK: Refusal = { path: '', reason: 'expected one JSON object; this is blank' }

function readEntry({ order }: StreamEntry): Change | Refusal {
  if (order === undefined) return NO_ORDER
  return readOrder(order) ?? BLANK
}
