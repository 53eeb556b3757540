import type {
  AcknowledgedEntry,
  StreamInspection,
} from '../../indexing/consistency-check/stream-inspection.ts'
import { READ_LIMITS } from '../../indexing/sources/change-stream.ts'
import { retryUntilDeadline } from '../../lib/async/retry-until-deadline.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import { connectKafka, type KafkaConnection, type KafkaOptions } from './connection.ts'
import { fetchEntries } from './fetch-entries.ts'
import { countOffsets, listBacklog, listCommitted, listRanges, readTopics } from './offsets.ts'
import type { FetchedEntries, Offsets } from './positions.ts'

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
  const [ranges, committed] = await send(async () => {
    const { partitions } = (await readTopics(connection)).changes
    return await Promise.all([
      listRanges(connection, topic, partitions),
      listCommitted(connection, partitions),
    ])
  })
  for (const [partition, position] of committed) {
    const range = ranges.get(partition) ?? { from: position, to: position }
    const end = position < range.to ? position : range.to
    for (let from = range.from; from < end; ) {
      const page = await readPage(connection, partition, from)
      const entries = page.entries.filter(({ offset }) => offset < end)
      yield entries.map(({ id, order }) => ({ id, order: order ?? null }))
      from = page.nextOffset
    }
  }
}

/** Longer than a broker delays the responses to a client above its quota. */
const PAGE_DEADLINE_MS = 60_000

/** Above the quota of a client, a broker returns no record of a partition that has some. */
async function readPage(
  connection: KafkaConnection,
  partition: number,
  from: bigint,
): Promise<FetchedEntries> {
  const limits = { maxBytes: READ_LIMITS.bytes, waitMs: 0 }
  const policy = { deadlineMs: PAGE_DEADLINE_MS, activity: 'reading the topic of changes' }
  return await retryUntilDeadline(policy, async () => {
    const fetched = await connection.send(() =>
      fetchEntries(connection, new Map([[partition, from]]), limits),
    )
    const page = fetched.get(partition)
    if (page !== undefined) return page
    throw new Unavailable(
      `Kafka returned no record of partition ${partition} of "${connection.topic}" from offset ${from} on: raise the consumer_byte_rate of this client, or end an open transaction of the topic, then check again`,
    )
  })
}
