import { type Connection, fetchV13, type KafkaRecord, type RecordsBatch } from '@platformatic/kafka'
import { monotonicClock, wallClock } from '../../lib/clock.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import { committedBatches } from './committed-batches.ts'
import type { KafkaConnection } from './connection.ts'
import { entryId, type FetchedEntries, type Offsets, type PartitionEntry } from './positions.ts'

export interface FetchLimits {
  /** Of the response of each broker. Kafka returns a larger batch whole, so none is stuck. */
  maxBytes: number
  /** How long a broker waits for a record. */
  waitMs: number
}

const READ_COMMITTED = 1
/** A read waits for the slowest of several leaders, also when another one has an entry. */
const MAX_SHARED_WAIT_MS = 100
const LOG_APPEND_TIME = 0b1000
const MIN_BYTES = 1
const NO_RACK = ''
const WITHOUT_SESSION = [0, -1] as const

/**
 * Fetches the records of committed transactions from these offsets, from all leaders at once. A
 * response favours the first partitions. A partition is missing while its leader delays a client
 * above its quota. It has no entries, and the same offset again, before its end or an open
 * transaction.
 */
export async function fetchEntries(
  { fetcher, topic }: Pick<KafkaConnection, 'fetcher' | 'topic'>,
  offsets: Offsets,
  { maxBytes, waitMs }: FetchLimits,
): Promise<Map<number, FetchedEntries>> {
  const { topics, brokers } = await fetcher.metadata({ topics: [topic] })
  const { id: topicId = '', partitions = [] } = topics.get(topic) ?? {}
  const leaders = Map.groupBy(offsets, ([partition]) => partitions[partition]?.leader ?? -1)
  const limits = {
    maxBytes,
    waitMs: leaders.size > 1 ? Math.min(waitMs, MAX_SHARED_WAIT_MS) : waitMs,
  }
  const fetched = await Promise.all(
    [...leaders].map(async ([leader, wanted]) => {
      const broker = brokers.get(leader)
      if (broker === undefined) {
        throw new Unavailable(`partition ${wanted[0]?.[0]} of "${topic}" has no leader`)
      }
      const connection = await fetcher.connections.get(broker)
      return await fetchFromLeader(connection, topicId, new Map(wanted), limits)
    }),
  )
  return new Map(fetched.flatMap((one) => [...one]))
}

async function fetchFromLeader(
  connection: Connection,
  topicId: string,
  offsets: Offsets,
  { maxBytes, waitMs }: FetchLimits,
): Promise<Map<number, FetchedEntries>> {
  const partitions = [...offsets].map(([partition, fetchOffset]) => ({
    partition,
    fetchOffset,
    currentLeaderEpoch: -1,
    lastFetchedEpoch: -1,
    partitionMaxBytes: maxBytes,
  }))
  const topics = [{ topicId, partitions }]
  // Not the fetch of the client, which also drops committed records beside an aborted transaction.
  const { responses } = await fetchV13.api.async(
    connection,
    waitMs,
    MIN_BYTES,
    maxBytes,
    READ_COMMITTED,
    ...WITHOUT_SESSION,
    topics,
    [],
    NO_RACK,
  )
  const fetchedAt = { wallMs: wallClock(), monotonicMs: monotonicClock() }
  const found = responses.flatMap((response) => response.partitions)
  return new Map(
    found.flatMap(({ partitionIndex, records, abortedTransactions }) => {
      const from = offsets.get(partitionIndex)
      if (from === undefined) return []
      const batches = records ?? []
      const entries = committedBatches(batches, abortedTransactions ?? [])
        .flatMap((batch) =>
          batch.records.map((one) => toEntry(partitionIndex, batch, one, fetchedAt)),
        )
        // A batch may begin before the offset.
        .filter(({ offset }) => offset >= from)
      return [[partitionIndex, { entries, nextOffset: endOf(batches) ?? from }] as const]
    }),
  )
}

function endOf(batches: readonly RecordsBatch[]): bigint | undefined {
  const last = batches.at(-1)
  return last && last.firstOffset + BigInt(last.lastOffsetDelta) + 1n
}

function toEntry(
  partition: number,
  batch: RecordsBatch,
  { offsetDelta, timestampDelta, key, value }: KafkaRecord,
  { wallMs, monotonicMs }: { wallMs: number; monotonicMs: number },
): PartitionEntry {
  const offset = batch.firstOffset + BigInt(offsetDelta)
  const isAppendTime = (batch.attributes & LOG_APPEND_TIME) !== 0
  const timestamp = isAppendTime ? batch.maxTimestamp : batch.firstTimestamp + timestampDelta
  return {
    id: entryId(partition, offset),
    offset,
    // Copied: a slice would keep the whole response in memory.
    order: value === null ? undefined : Buffer.from(value),
    fields: key === null ? [] : [Buffer.from('key'), Buffer.from(key)],
    enteredAtMs: monotonicMs - Math.max(0, wallMs - Number(timestamp)),
  }
}
