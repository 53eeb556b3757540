import type {
  AcknowledgedEntry,
  StreamInspection,
} from '../../indexing/consistency-check/stream-inspection.ts'
import { READ_LIMITS } from '../../indexing/sources/change-stream.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { connectKafka, type KafkaConnection, type KafkaOptions } from './connection.ts'
import { fetchEntries } from './fetch-entries.ts'
import {
  countOffsets,
  listBacklog,
  listCommitted,
  listEarliest,
  listRanges,
  readTopics,
} from './offsets.ts'
import type { Offsets } from './positions.ts'

/** Read-only access to the topic of changes: commits no offset. */
export function openKafkaStreamInspection(options: KafkaOptions): StreamInspection {
  const connection = connectKafka(options)
  const { deadLetterTopic, send, close } = connection
  return {
    async backlog() {
      const [unread, deadLetters] = await send(async () => {
        const topics = await readTopics(connection)
        return await Promise.all([
          listBacklog(connection, topics.changes.partitions),
          listRanges(connection, deadLetterTopic, topics.deadLetters.partitions),
        ])
      })
      const waiting = [...unread].filter(([, { from, to }]) => from < to)
      const oldest = new Map(waiting.map(([partition, { from }]) => [partition, from]))
      return {
        backlog: countOffsets(unread.values()),
        oldestAgeMs: await readOldestAge(connection, oldest),
        deadLetters: countOffsets(deadLetters.values()),
      }
    },
    acknowledged: () => readAcknowledged(connection),
    close,
  }
}

/** The age of the oldest record at the given offsets, by the clock of this machine. */
async function readOldestAge(
  connection: KafkaConnection,
  offsets: Offsets,
): Promise<number | null> {
  if (offsets.size === 0) return null
  const limits = { maxBytes: 1, waitMs: 0 }
  let oldest: number | null = null
  // One partition at a time, because a small response has a record of one partition only.
  for (const one of offsets) {
    const fetched = await connection.send(() => fetchEntries(connection, new Map([one]), limits))
    const first = fetched.get(one[0])?.entries[0]
    if (first) oldest = Math.max(oldest ?? 0, monotonicClock() - first.enteredAtMs)
  }
  return oldest
}

/** The records before the committed offsets that the topic still has, in pages. */
async function* readAcknowledged(connection: KafkaConnection): AsyncGenerator<AcknowledgedEntry[]> {
  const { send, topic } = connection
  const [earliest, committed] = await send(async () => {
    const { partitions } = (await readTopics(connection)).changes
    return await Promise.all([
      listEarliest(connection, topic, partitions),
      listCommitted(connection, partitions),
    ])
  })
  for (const [partition, end] of committed) {
    for (let from = earliest.get(partition) ?? end; from < end; ) {
      const offsets = new Map([[partition, from]])
      const limits = { maxBytes: READ_LIMITS.bytes, waitMs: 0 }
      const fetched = await send(() => fetchEntries(connection, offsets, limits))
      const page = fetched.get(partition)
      if (page === undefined) break
      const entries = page.entries.filter(({ offset }) => offset < end)
      yield entries.map(({ id, order }) => ({ id, order: order ?? null }))
      from = page.nextOffset
    }
  }
}
