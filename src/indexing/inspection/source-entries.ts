import { readEntries } from '../sources/entries.ts'
import { readOrder } from '../sources/read-order.ts'
import type { SourceEntry } from './compare-orders.ts'
import type { StreamInspection } from './stream-inspection.ts'

/** The source orders of NDJSON. */
export async function* entriesOfLines(input: AsyncIterable<Buffer>): AsyncGenerator<SourceEntry> {
  for await (const { lineNumber, bytes, result } of readEntries(input, 1)) {
    yield { place: `line ${lineNumber}`, bytes, result }
  }
}

/** What the stream still has though its consumer is done with it. */
export async function* entriesOfStream(
  stream: Pick<StreamInspection, 'acknowledged'>,
): AsyncGenerator<SourceEntry> {
  for await (const page of stream.acknowledged()) {
    for (const { id, order } of page) {
      const result = order === null ? null : readOrder(order)
      const place = `stream entry ${id}`
      yield { place, bytes: order?.length ?? 0, result: result ?? NO_ORDER }
    }
  }
}

const NO_ORDER = { path: '', reason: 'expected one field "order" with a source order' }
