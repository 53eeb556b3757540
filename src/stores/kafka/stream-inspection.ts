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
import {
  countOffsets,
  listBacklog,
  listCommitted,
  listRanges,
  type OffsetRange,
  readTopics,
} from './offsets.ts'
import type { FetchedEntries, PartitionEntry } from './positions.ts'

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
      return {
        backlog: countOffsets(unread.values()),
        oldestAgeMs: await readOldestAge(connection, unread),
        deadLetters: countOffsets(deadLetters.values()),
      }
    },
    acknowledged: () => readAcknowledged(connection),
    close,
  }
}

/**
 * The age of the oldest record of the ranges, by the clock of this machine. The records of an open
 * transaction have none yet, and those of an aborted one never.
 */
async function readOldestAge(
  connection: KafkaConnection,
  ranges: ReadonlyMap<number, OffsetRange>,
): Promise<number | null> {
  let oldest: number | null = null
  // One partition at a time, because a small response has a record of one partition only.
  for (const [partition, range] of ranges) {
    const first = await readFirst(connection, partition, range)
    if (first) oldest = Math.max(oldest ?? 0, monotonicClock() - first.enteredAtMs)
  }
  return oldest
}

/** The first record of a committed transaction in the range. */
async function readFirst(
  connection: KafkaConnection,
  partition: number,
  { from, to }: OffsetRange,
): Promise<PartitionEntry | undefined> {
  for (let offset = from; offset < to; ) {
    const maxBytes = offset === from ? 1 : READ_LIMITS.bytes
    const page = await retryPage(() => readPage(connection, partition, offset, maxBytes))
    const [first] = page.entries
    if (first !== undefined || page.nextOffset === offset) return first
    offset = page.nextOffset
  }
  return undefined
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
      const page = await retryPage(() => readNextPage(connection, partition, from))
      const entries = page.entries.filter(({ offset }) => offset < end)
      yield entries.map(({ id, order }) => ({ id, order: order ?? null }))
      from = page.nextOffset
    }
  }
}

/** Longer than a broker delays the responses to a client above its quota. */
const PAGE_DEADLINE_MS = 60_000

async function retryPage(read: () => Promise<FetchedEntries>): Promise<FetchedEntries> {
  const activity = 'reading the topic of changes'
  return await retryUntilDeadline({ deadlineMs: PAGE_DEADLINE_MS, activity }, read)
}

/** @throws Unavailable while the broker delays this client, or a transaction is open */
async function readNextPage(
  connection: KafkaConnection,
  partition: number,
  from: bigint,
): Promise<FetchedEntries> {
  const page = await readPage(connection, partition, from, READ_LIMITS.bytes)
  if (page.nextOffset > from) return page
  throw noRecord(connection, partition, from, 'end an open transaction of the topic')
}

/** @throws Unavailable while the broker delays this client */
async function readPage(
  connection: KafkaConnection,
  partition: number,
  from: bigint,
  maxBytes: number,
): Promise<FetchedEntries> {
  const limits = { maxBytes, waitMs: 0 }
  const fetched = await connection.send(() =>
    fetchEntries(connection, new Map([[partition, from]]), limits),
  )
  const page = fetched.get(partition)
  if (page !== undefined) return page
  throw noRecord(connection, partition, from, 'raise the consumer_byte_rate of this client')
}

function noRecord(
  { topic }: KafkaConnection,
  partition: number,
  from: bigint,
  nextStep: string,
): Unavailable {
  return new Unavailable(
    `Kafka returned no record of partition ${partition} of "${topic}" from offset ${from} on: ${nextStep}, then try again`,
  )
}
