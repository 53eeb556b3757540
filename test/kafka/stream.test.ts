import { afterEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config/config.ts'
import { type ChangeStream, totalCount } from '../../src/indexing/sources/change-stream.ts'
import { openChangeStream, openStreamInspection } from '../../src/services.ts'
import { sharedBroker } from '../support/streams/broker.ts'
import {
  type KafkaFeed,
  type KafkaFeedOptions,
  openKafkaFeed,
} from '../support/streams/kafka-feed.ts'

const error = { path: '/id', reason: 'expected an id' }

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function createFeed(options?: KafkaFeedOptions): Promise<KafkaFeed> {
  const feed = await openKafkaFeed(sharedBroker(), options)
  closers.push(feed.close)
  return feed
}

async function open(feed: KafkaFeed): Promise<ChangeStream> {
  const stream = await openChangeStream(parseConfig(feed.env), 'the test')
  closers.push(() => stream.close())
  await stream.claimPending()
  return stream
}

const REPLACED = [{ id: 'all that the topic had: it was deleted and created again', count: 1 }]

/** Deletes the topic of changes, creates it with one partition, and adds source orders. */
async function createAgain(feed: KafkaFeed, first: string, ...others: string[]): Promise<void> {
  await feed.admin.deleteTopics({ topics: [feed.topic] })
  const topic = { topics: [feed.topic], partitions: 1, replicas: 1 }
  await expect
    .poll(() => feed.admin.createTopics(topic).then((created) => created.length, String))
    .toBe(1)
  await expect.poll(() => feed.add(first).catch(() => [])).toEqual(['0-0'])
  await feed.add(...others)
}

/** Commits offset 1 of a topic that was deleted, after it was created again with two records. */
async function commitLate(): Promise<{ feed: KafkaFeed; stream: ChangeStream }> {
  const feed = await createFeed({ partitions: 1 })
  await feed.add('one', 'two')
  const stream = await open(feed)
  await stream.read()
  await createAgain(feed, 'three', 'four')
  await stream.acknowledge(['0-0'])
  expect(await feed.committed()).toEqual([1])
  return { feed, stream }
}

/** Reads until there is nothing new, acknowledges all, and returns the values of the records. */
async function drain(stream: ChangeStream): Promise<string[]> {
  const values: string[] = []
  for (;;) {
    const { entries, lost } = await stream.read()
    values.push(...entries.map(({ order }) => String(order)))
    await stream.acknowledge([...entries, ...lost].map(({ id }) => id))
    if (entries.length + lost.length === 0) return values
  }
}

describe('committed offsets', () => {
  it('a commit never passes the first unacknowledged record of its partition', async () => {
    const feed = await createFeed({ partitions: 2 })
    await feed.addRecords(
      ...[0, 0, 0, 1].map((partition) => ({ value: Buffer.from('x'), partition })),
    )
    const stream = await open(feed)
    await stream.read()
    await stream.acknowledge(['0-0', '0-2', '1-0'])
    expect(await feed.committed()).toEqual([1, 1])
    await stream.acknowledge(['0-1'])
    expect(await feed.committed()).toEqual([3, 1])
  })

  it('a commit within a batch of a producer delivers only the rest of the batch', async () => {
    const feed = await createFeed({ partitions: 1 })
    const stream = await open(feed)
    await stream.append(['one', 'two', 'three'].map((text) => Buffer.from(text)))
    await stream.read()
    await stream.acknowledge(['0-0'])
    expect(await drain(await open(feed))).toEqual(['two', 'three'])
  })

  it('a read commits nothing', async () => {
    const feed = await createFeed({ partitions: 1 })
    await feed.add('one')
    await (await open(feed)).read()
    expect(await feed.committed()).toEqual([-1])
  })

  it('a commit of a former writer that resumed late only delivers again', async () => {
    const feed = await createFeed({ partitions: 1 })
    await feed.add('one', 'two')
    const [former, writer] = [await open(feed), await open(feed)]
    await former.read()
    await drain(writer)
    await former.acknowledge(['0-0'])
    expect(await feed.committed()).toEqual([1])
    await writer.claimPending()
    expect(await drain(writer)).toEqual(['two'])
    expect(await feed.committed()).toEqual([2])
  })

  it('a group without a committed offset starts at the oldest record', async () => {
    const feed = await createFeed({ partitions: 1 })
    await feed.add('one', 'two', 'three')
    await feed.removeBefore(0, 1)
    expect(await drain(await open(feed))).toEqual(['two', 'three'])
  })

  it('a group whose offsets expired starts again at the oldest record', async () => {
    const feed = await createFeed({ partitions: 1 })
    await feed.add('one')
    const stream = await open(feed)
    await drain(stream)
    await feed.admin.deleteConsumerGroupOffsets({
      groupId: feed.env.KAFKA_GROUP,
      topics: [{ name: feed.topic, partitionIndexes: [0] }],
    })
    await stream.claimPending()
    expect(await drain(stream)).toEqual(['one'])
  })

  it.each([
    ['after its records were acknowledged', drain],
    ['while its records were unacknowledged', (stream: ChangeStream) => stream.read()],
  ])(
    'a topic created again %s is read from its start, and counts as lost',
    async (_when, begin) => {
      const feed = await createFeed({ partitions: 1 })
      await feed.add('one', 'two')
      const stream = await open(feed)
      await begin(stream)
      await createAgain(feed, 'three')
      await expect.poll(() => stream.claimPending().catch(() => [])).toEqual(REPLACED)
      expect(await stream.claimPending()).toEqual([])
      expect(await drain(stream)).toEqual(['three'])
    },
  )

  it('a topic created again is read from its start after an offset of the deleted one was committed', async () => {
    const { stream } = await commitLate()
    await expect.poll(() => stream.claimPending().catch(() => [])).toEqual(REPLACED)
    expect(await stream.claimPending()).toEqual([])
    expect(await drain(stream)).toEqual(['three', 'four'])
  })

  it('a topic created again is detected again until its start is committed', async () => {
    const { feed, stream } = await commitLate()
    const member = await feed.joinGroup()
    await expect
      .poll(() => stream.claimPending().catch(String))
      .toContain('another consumer is a member of the group')
    await member.leave()
    expect(await stream.claimPending()).toEqual(REPLACED)
    expect(await drain(stream)).toEqual(['three', 'four'])
  })

  it('a new partition is read from its start', async () => {
    const feed = await createFeed({ partitions: 1 })
    const stream = await open(feed)
    await drain(stream)
    await feed.admin.createPartitions({
      topics: [{ name: feed.topic, count: 2, assignments: null }],
    })
    const record = { value: Buffer.from('new'), partition: 1 }
    await expect.poll(() => feed.addRecords(record).catch(() => [])).toEqual(['1-0'])
    await stream.claimPending()
    expect(await drain(stream)).toEqual(['new'])
  })
})

describe('records removed before they were read', () => {
  it('are reported with their number and their first and last offset, once', async () => {
    const feed = await createFeed({ partitions: 2 })
    const stream = await open(feed)
    await drain(stream)
    const all = Array.from({ length: 10 }, (_, n) => ({ value: Buffer.from(`${n}`), partition: 1 }))
    await feed.addRecords(...all)
    await feed.removeBefore(1, 7)
    const { entries, lost } = await stream.read()
    expect({ entries, lost }).toEqual({ entries: [], lost: [{ id: '1-0 to 1-6', count: 7 }] })
    expect(await drain(stream)).toEqual(['7', '8', '9'])
    expect(await feed.committed()).toEqual([0, 10])
  })

  it('of a partition that ends before its committed offset are reported once', async () => {
    const feed = await createFeed({ partitions: 1 })
    await feed.add('one', 'two')
    await feed.admin.alterConsumerGroupOffsets({
      groupId: feed.env.KAFKA_GROUP,
      topics: [{ name: feed.topic, partitionOffsets: [{ partition: 0, offset: 9n }] }],
    })
    const stream = await open(feed)
    const { lost } = await stream.read()
    expect(lost).toEqual([{ id: 'all from 0-2 on: the partition ends before 0-9', count: 1 }])
    expect(await drain(stream)).toEqual(['one', 'two'])
    expect((await stream.read()).lost).toEqual([])
    expect(await feed.committed()).toEqual([2])
  })

  it('are reported by the next process too, where the first one ended at once', async () => {
    const feed = await createFeed({ partitions: 1 })
    await drain(await open(feed))
    await feed.add('one', 'two')
    await feed.removeBefore(0, 1)
    for (let process = 0; process < 2; process++) {
      const { lost } = await (await open(feed)).read()
      expect(lost).toEqual([{ id: '0-0', count: 1 }])
      expect(totalCount(lost)).toBe(1)
    }
  })
})

describe('transactions', () => {
  it('aborted records are not read, and committed ones are', async () => {
    const feed = await createFeed({ partitions: 1 })
    await feed.addInTransaction('abort', 'aborted 1')
    await feed.addInTransaction('commit', 'committed 1')
    await feed.addInTransaction('abort', 'aborted 2')
    await feed.add('plain')
    await feed.addInTransaction('abort', 'aborted 3')
    await feed.addInTransaction('commit', 'committed 2')
    const stream = await open(feed)
    expect(await drain(stream)).toEqual(['committed 1', 'plain', 'committed 2'])
    expect(await stream.backlog()).toBe(0)
  })

  it('the age of the oldest record is that of the first one after aborted records', async () => {
    const feed = await createFeed({ partitions: 1 })
    const inspection = await openStreamInspection(parseConfig(feed.env))
    closers.push(() => inspection?.close())
    await feed.addInTransaction('abort', 'aborted 1', 'aborted 2')
    expect(await inspection?.backlog()).toMatchObject({ backlog: 3, oldestAgeMs: null })
    await feed.addInTransaction('commit', 'committed')
    expect(await inspection?.backlog()).toMatchObject({ oldestAgeMs: expect.any(Number) })
  })
})

describe('dead letters', () => {
  it('a record without a value keeps its key', async () => {
    const feed = await createFeed({ partitions: 1 })
    await feed.addRecords({ value: null, key: 'ord_1' })
    const stream = await open(feed)
    const { entries } = await stream.read()
    expect(entries[0]?.order).toBeUndefined()
    await stream.deadLetter(entries.map((entry) => ({ ...entry, error })))
    expect(await feed.deadLetters()).toMatchObject([
      { order: undefined, key: 'ord_1', ...error, entry_id: '0-0' },
    ])
  })

  it('a record that its topic for dead letters rejects for its size loses its value there', async () => {
    const feed = await createFeed({ partitions: 1 })
    await feed.admin.incrementalAlterConfigs({
      resources: [
        {
          resourceType: 2,
          resourceName: feed.deadLetterTopic,
          configs: [{ name: 'max.message.bytes', value: '1000', configOperation: 0 }],
        },
      ],
    })
    await feed.add('x'.repeat(2_000))
    const stream = await open(feed)
    const { entries } = await stream.read()
    await stream.deadLetter(entries.map((entry) => ({ ...entry, error })))
    expect(await feed.deadLetters()).toMatchObject([
      { order: undefined, entry_id: '0-0', omitted_bytes: '2000' },
    ])
  })

  it('a dead letter is sent before its offset is committed', async () => {
    const feed = await createFeed({ partitions: 1 })
    await feed.add('one')
    const stream = await open(feed)
    const { entries } = await stream.read()
    await feed.admin.deleteTopics({ topics: [feed.deadLetterTopic] })
    await expect.poll(() => feed.admin.listTopics()).not.toContain(feed.deadLetterTopic)
    const sending = stream.deadLetter(entries.map((entry) => ({ ...entry, error })))
    await expect(sending).rejects.toThrow(`Kafka has no topic "${feed.deadLetterTopic}"`)
    expect(await feed.committed()).toEqual([-1])
    await feed.admin.createTopics({ topics: [feed.deadLetterTopic], partitions: 1, replicas: 1 })
  })
})

it('a record larger than a fetch is read', async () => {
  const feed = await createFeed({ partitions: 1, configs: { 'max.message.bytes': '9000000' } })
  await feed.add('before', 'x'.repeat(8_000_000), 'after')
  const values = await drain(await open(feed))
  expect(values.map((value) => value.length)).toEqual([6, 8_000_000, 5])
})

it('orders that a topic accepts one at a time only are appended', async () => {
  const feed = await createFeed({ partitions: 1, configs: { 'max.message.bytes': '1000' } })
  const stream = await open(feed)
  await stream.append([Buffer.alloc(800, 'a'), Buffer.alloc(800, 'b')])
  expect((await drain(stream)).map((value) => value[0])).toEqual(['a', 'b'])
})

it('an order that the topic rejects for its size is returned with the setting of the topic, and the others are appended', async () => {
  const feed = await createFeed({ partitions: 1, configs: { 'max.message.bytes': '1000' } })
  const stream = await open(feed)
  const sizes = [100, 2_000, 200, 3_000]
  const rejected = await stream.append(sizes.map((size) => Buffer.alloc(size, 'x')))
  expect([...rejected.keys()]).toEqual([1, 3])
  const reason = `the topic "${feed.topic}" rejects a record for its size: raise its max.message.bytes`
  expect(rejected.get(3)).toEqual({ path: '', reason: expect.stringContaining(reason) })
  expect((await drain(stream)).map(({ length }) => length)).toEqual([100, 200])
})
