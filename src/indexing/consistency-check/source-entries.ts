import { parseOrder } from '../projection/change.ts'
import { parseLines } from '../sources/ndjson.ts'
import type { SourceEntry } from './compare-orders.ts'
import type { StreamInspection } from './stream-inspection.ts'

/** The source orders of NDJSON. */
export async function* entriesFromLines(input: AsyncIterable<Buffer>): AsyncGenerator<SourceEntry> {
  for await (const group of parseLines(input, 1)) {
    for (const { lineNumber, bytes, result } of group) {
      yield { place: `line ${lineNumber}`, bytes, result }
    }
  }
}

/** The acknowledged entries that are still in the stream. */
export async function* entriesFromStream(
  stream: Pick<StreamInspection, 'acknowledged'>,
): AsyncGenerator<SourceEntry> {
  for await (const page of stream.acknowledged()) {
    for (const { id, order } of page) {
      const result = order === null ? null : parseOrder(order)
      const place = `stream entry ${id}`
      yield { place, bytes: order?.length ?? 0, result: result ?? NO_ORDER }
    }
  }
}

const NO_ORDER = { path: '', reason: 'expected one field "order" with a source order' }
