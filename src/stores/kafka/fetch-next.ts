import { type LostEntries, READ_LIMITS } from '../../indexing/sources/change-stream.ts'
import type { KafkaConnection } from './connection.ts'
import { fetchEntries } from './fetch-entries.ts'
import { hasBrokerError } from './kafka-errors.ts'
import { listRanges } from './offsets.ts'
import { entryId, type Offsets, type Positions } from './positions.ts'

/** How long a fetch waits for new entries. */
const WAIT_MS = 500

/** Fetches into the positions. Returns the entries that were removed before they were read. */
export async function fetchNext(
  connection: KafkaConnection,
  positions: Positions,
  turn: number,
): Promise<LostEntries[]> {
  try {
    const limits = { maxBytes: READ_LIMITS.bytes, waitMs: WAIT_MS }
    const fetched = await connection.send(() =>
      fetchEntries(connection, rotate(positions.fetchOffsets(), turn), limits),
    )
    for (const [partition, entries] of fetched) positions.add(partition, entries)
    return []
  } catch (error) {
    if (hasBrokerError(error, ['OFFSET_OUT_OF_RANGE'])) {
      return await skipRemoved(connection, positions)
    }
    throw error
  }
}

/** Begins with another partition at each turn, because a response favours the first ones. */
function rotate(offsets: Offsets, turn: number): Offsets {
  const all = [...offsets]
  const first = all.length === 0 ? 0 : turn % all.length
  return new Map([...all.slice(first), ...all.slice(0, first)])
}

/** Moves each partition to its oldest record, where the next one to read was removed. */
async function skipRemoved(
  connection: KafkaConnection,
  positions: Positions,
): Promise<LostEntries[]> {
  const offsets = positions.fetchOffsets()
  const ranges = await connection.send(() =>
    listRanges(connection, connection.topic, [...offsets.keys()]),
  )
  const lost: LostEntries[] = []
  for (const [partition, { from, to }] of ranges) {
    const offset = offsets.get(partition) ?? from
    if (offset >= from && offset <= to) continue
    positions.seek(partition, from)
    lost.push(
      offset < from ? removed(partition, offset, from - 1n) : truncated(partition, to, offset),
    )
  }
  return lost
}

function removed(partition: number, first: bigint, last: bigint): LostEntries {
  const ids = [...new Set([first, last])].map((offset) => entryId(partition, offset))
  return { id: ids.join(' to '), count: Number(last - first) + 1 }
}

/** The partition lost records that were written, and maybe others: offsets repeat. */
function truncated(partition: number, end: bigint, position: bigint): LostEntries {
  const [first, next] = [entryId(partition, end), entryId(partition, position)]
  return { id: `all from ${first} on: the partition ends before ${next}`, count: 1 }
}
