import type { Admin } from '@platformatic/kafka'
import type { KafkaConnection } from './connection.ts'
import type { Offsets } from './positions.ts'

const EARLIEST = -2n
const LATEST = -1n
/** The committed offset of a partition without one. */
const NONE = -1n

/** The current state of a topic on the brokers. */
export interface TopicState {
  /** Another topic of the same name has another id. */
  id: string
  partitions: readonly number[]
}

/** Consecutive offsets; `to` is not included. */
export interface OffsetRange {
  from: bigint
  to: bigint
}

/** Reads the topics of changes and of dead letters, without the cache of the client. */
export async function readTopics({
  admin,
  topic,
  deadLetterTopic,
}: KafkaConnection): Promise<{ changes: TopicState; deadLetters: TopicState }> {
  // Separately, because the client may name the wrong one of two topics as missing.
  const [changes, deadLetters] = await Promise.all([
    readTopic(admin, topic),
    readTopic(admin, deadLetterTopic),
  ])
  return { changes, deadLetters }
}

async function readTopic(admin: Admin, name: string): Promise<TopicState> {
  const { topics } = await admin.metadata({ topics: [name], forceUpdate: true })
  const { id = '', partitions = [] } = topics.get(name) ?? {}
  return { id, partitions: [...partitions.keys()] }
}

/** The range of records that each partition of a topic has. */
export async function listRanges(
  connection: Pick<KafkaConnection, 'admin'>,
  topic: string,
  partitions: readonly number[],
): Promise<Map<number, OffsetRange>> {
  const [earliest, latest] = await Promise.all([
    listOffsets(connection, topic, partitions, EARLIEST),
    listOffsets(connection, topic, partitions, LATEST),
  ])
  return new Map(
    partitions.map((partition) => {
      const to = latest.get(partition) ?? 0n
      return [partition, { from: earliest.get(partition) ?? to, to }]
    }),
  )
}

/** The offset of the oldest record of each partition. */
export async function listEarliest(
  connection: Pick<KafkaConnection, 'admin'>,
  topic: string,
  partitions: readonly number[],
): Promise<Offsets> {
  return await listOffsets(connection, topic, partitions, EARLIEST)
}

async function listOffsets(
  { admin }: Pick<KafkaConnection, 'admin'>,
  topic: string,
  partitions: readonly number[],
  timestamp: bigint,
): Promise<Offsets> {
  if (partitions.length === 0) return new Map()
  const wanted = partitions.map((partitionIndex) => ({ partitionIndex, timestamp }))
  const [listed] = await admin.listOffsets({ topics: [{ name: topic, partitions: wanted }] })
  return new Map(listed?.partitions.map(({ partitionIndex, offset }) => [partitionIndex, offset]))
}

/** The committed offsets of the group, where it has one. */
export async function listCommitted(
  { admin, topic, group }: Pick<KafkaConnection, 'admin' | 'topic' | 'group'>,
  partitions: readonly number[],
): Promise<Offsets> {
  const [found] = await admin.listConsumerGroupOffsets({
    groups: [{ groupId: group, topics: [{ name: topic, partitionIndexes: [...partitions] }] }],
  })
  const offsets = found?.topics.find(({ name }) => name === topic)?.partitions ?? []
  return new Map(
    offsets
      .filter(({ committedOffset }) => committedOffset !== NONE)
      .map(({ partitionIndex, committedOffset }) => [partitionIndex, committedOffset]),
  )
}

/** Commits as a consumer that assigns its partitions itself: the group has no members. */
export async function commitOffsets(
  { admin, topic, group }: Pick<KafkaConnection, 'admin' | 'topic' | 'group'>,
  offsets: Offsets,
): Promise<void> {
  const partitionOffsets = [...offsets].map(([partition, offset]) => ({ partition, offset }))
  await admin.alterConsumerGroupOffsets({
    groupId: group,
    topics: [{ name: topic, partitionOffsets }],
  })
}

/** The records after the committed offset of each partition. */
export async function listBacklog(
  connection: KafkaConnection,
  partitions: readonly number[],
): Promise<Map<number, OffsetRange>> {
  const [ranges, committed] = await Promise.all([
    listRanges(connection, connection.topic, partitions),
    listCommitted(connection, partitions),
  ])
  return new Map(
    [...ranges].map(([partition, { from, to }]) => {
      const position = committed.get(partition) ?? from
      return [partition, { from: position > from && position <= to ? position : from, to }]
    }),
  )
}

/**
 * The number of offsets in ranges. Transactions and compaction make it an upper bound of records.
 */
export function countOffsets(ranges: Iterable<OffsetRange>): number {
  let count = 0n
  for (const { from, to } of ranges) count += to - from
  return Number(count)
}
