import type { Change, Refusal } from '../projection/change.ts'
import type { Verdict } from '../writing/decide.ts'
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

export interface WrittenEntry {
  entry: StreamEntry
  verdict: Verdict
}

/** Writes what the entries hold; every change is stamped, since clients page. @throws as the writer */
export async function writeBatch(
  writer: Writer,
  entries: readonly StreamEntry[],
): Promise<WrittenEntry[]> {
  const verdicts = await writeAll(writer, entries.map(readEntry), 'live')
  return entries.map((entry, at) => ({ entry, verdict: verdicts[at] ?? 'unchanged' }))
}

/** Parks what was refused, then acknowledges all. `lost`: ids of entries that are gone. */
export async function settleBatch(
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
