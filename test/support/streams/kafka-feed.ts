import { randomBytes } from 'node:crypto'
import { Admin, Consumer, MessagesStreamModes, Producer } from '@platformatic/kafka'
import { bytesOf, type DeadLetter, type FeedEntry } from './change-feed.ts'

const ALL = -1

/** A record of the topic of changes. */
export interface FeedRecord {
  value: Buffer | null
  key?: string
  partition?: number
}

/** The platform's side of a topic of changes, and an operator's view of it. */
export interface KafkaFeed {
  /** The settings that lead to the topic. */
  env: Record<'KAFKA_BROKERS' | 'KAFKA_TOPIC' | 'KAFKA_GROUP', string>
  topic: string
  deadLetterTopic: string
  admin: Admin
  /** Appends source orders, and returns their partitions and offsets. */
  add(...orders: readonly FeedEntry[]): Promise<string[]>
  addRecords(...records: readonly FeedRecord[]): Promise<string[]>
  /** Appends source orders in a transaction. */
  addInTransaction(outcome: 'commit' | 'abort', ...orders: readonly FeedEntry[]): Promise<void>
  /** The committed offset of each partition; -1 without one. */
  committed(): Promise<number[]>
  /** Removes the records of a partition before an offset, as retention does. */
  removeBefore(partition: number, offset: number): Promise<void>
  /** Joins the group as another consumer that reads nothing. */
  joinGroup(): Promise<{ leave(): Promise<void> }>
  /** The number of records after the committed offsets. */
  backlog(): Promise<number>
  deadLetters(): Promise<(DeadLetter & { key: string | null; omitted_bytes: string | undefined })[]>
  /** Removes the topics. */
  close(): Promise<void>
}

export interface KafkaFeedOptions {
  partitions?: number
  /** Settings of both topics. */
  configs?: Readonly<Record<string, string>>
}

/** Creates the topics of one test on a broker. */
export async function openKafkaFeed(
  broker: string,
  { partitions = 3, configs = {} }: KafkaFeedOptions = {},
): Promise<KafkaFeed> {
  const topic = `test.${randomBytes(6).toString('hex')}`
  const deadLetterTopic = `${topic}.refused`
  const group = `${topic}-indexer`
  // As patient as a platform: a test restarts the broker.
  const patience = { retries: 240, retryDelay: 250 }
  const options = { clientId: 'test', bootstrapBrokers: [broker], ...patience }
  const admin = new Admin(options)
  const producer = new Producer(options)
  let transactional: Producer | undefined
  const indices = [...Array(partitions).keys()]
  await admin.createTopics({
    topics: [topic, deadLetterTopic],
    partitions,
    replicas: 1,
    configs: Object.entries(configs).map(([name, value]) => ({ name, value })),
  })

  async function addRecords(...records: readonly FeedRecord[]): Promise<string[]> {
    const ids: string[] = []
    for (const { value, key, partition } of records) {
      const message = {
        topic,
        ...(value && { value }),
        ...(key !== undefined && { key: Buffer.from(key) }),
        ...(partition !== undefined && { partition }),
      }
      const { offsets = [] } = await producer.send({ messages: [message], acks: ALL })
      ids.push(...offsets.map((one) => `${one.partition}-${one.offset}`))
    }
    return ids
  }

  async function offsetsAt(name: string, timestamp: bigint): Promise<number[]> {
    const wanted = indices.map((partitionIndex) => ({ partitionIndex, timestamp }))
    const [listed] = await admin.listOffsets({ topics: [{ name, partitions: wanted }] })
    const found = new Map(listed?.partitions.map((one) => [one.partitionIndex, one.offset]))
    return indices.map((index) => Number(found.get(index)))
  }

  async function committed(): Promise<number[]> {
    const [found] = await admin.listConsumerGroupOffsets({
      groups: [{ groupId: group, topics: [{ name: topic, partitionIndexes: indices }] }],
    })
    const listed = found?.topics[0]?.partitions ?? []
    const offsets = new Map(listed.map((one) => [one.partitionIndex, one.committedOffset]))
    return indices.map((index) => Number(offsets.get(index) ?? -1))
  }

  return {
    env: { KAFKA_BROKERS: broker, KAFKA_TOPIC: topic, KAFKA_GROUP: group },
    topic,
    deadLetterTopic,
    admin,
    add: (...orders) => addRecords(...orders.map((one) => ({ value: Buffer.from(bytesOf(one)) }))),
    addRecords,
    async addInTransaction(outcome, ...orders) {
      transactional ??= new Producer({ ...options, idempotent: true, transactionalId: topic })
      const transaction = await transactional.beginTransaction()
      const messages = orders.map((one) => ({ topic, value: Buffer.from(bytesOf(one)) }))
      await transaction.send({ messages, acks: ALL })
      await transaction[outcome]()
    },
    committed,
    async removeBefore(partition, offset) {
      const partitionOffset = { partition, offset: BigInt(offset) }
      await admin.deleteRecords({ topics: [{ name: topic, partitions: [partitionOffset] }] })
    },
    async joinGroup() {
      const member = new Consumer({ ...options, groupId: group, autocommit: false })
      member.topics.trackAll(topic)
      await member.joinGroup()
      return { leave: () => member.close(true) }
    },
    async backlog() {
      const [ends, starts, done] = [
        await offsetsAt(topic, -1n),
        await offsetsAt(topic, -2n),
        await committed(),
      ]
      const left = ends.map((end, index) => end - Math.max(done[index] ?? 0, starts[index] ?? 0))
      return left.reduce((sum, count) => sum + count, 0)
    },
    async deadLetters() {
      const ends = await offsetsAt(deadLetterTopic, -1n)
      const count = ends.reduce((sum, end) => sum + end, 0)
      return count === 0 ? [] : await readDeadLetters(count)
    },
    async close() {
      await admin.deleteTopics({ topics: [topic, deadLetterTopic] })
      await Promise.all([admin.close(), producer.close(), transactional?.close()])
    },
  }

  async function readDeadLetters(count: number) {
    const groupId = `${topic}-reader-${randomBytes(4).toString('hex')}`
    const consumer = new Consumer({ ...options, groupId, autocommit: false })
    const letters = []
    const stream = await consumer.consume({
      topics: [deadLetterTopic],
      mode: MessagesStreamModes.EARLIEST,
    })
    for await (const { key, value, headers } of stream) {
      const all = new Map([...headers].map(([name, text]) => [String(name), String(text)]))
      const header = (name: string) => all.get(name) ?? ''
      letters.push({
        order: value ?? undefined,
        key: key ? String(key) : null,
        path: header('path'),
        reason: header('reason'),
        entry_id: header('entry_id'),
        omitted_bytes: all.get('omitted_bytes'),
      })
      if (letters.length === count) break
    }
    await consumer.close(true)
    return letters
  }
}
