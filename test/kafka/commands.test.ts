import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCommand } from '../support/cli/command.ts'
import { watchInProcess } from '../support/cli/watch-process.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { createTestFolder } from '../support/stores/test-folder.ts'
import { sharedBroker } from '../support/streams/broker.ts'
import { type KafkaFeed, openKafkaFeed } from '../support/streams/kafka-feed.ts'

let folder: string
let feed: KafkaFeed
let env: Record<string, string>
beforeEach(async () => {
  folder = createTestFolder()
  feed = await openKafkaFeed(sharedBroker(), { partitions: 2 })
  env = { DATA_DIR: folder, ...feed.env }
})
afterEach(async () => {
  await feed.close()
})

const run = (args: string[], input = '') => runCommand(['index', ...args], env, input)
const line = (id: string) => JSON.stringify(sourceOrder({ id }))

/** Runs a watch until it has written every record. */
async function watchAll(): Promise<void> {
  const watch = watchInProcess(env)
  await expect.poll(feed.backlog, { timeout: 60_000 }).toBe(0)
  await watch.stop()
}

it('index load --stream appends the valid lines, and a watch writes them', async () => {
  const { code, stdout, stderr } = await run(
    ['load', '-', '--stream', '--json'],
    [line('ord_1'), '{"half', line('ord_2')].join('\n'),
  )
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({ read: 3, handed_over: 2, refused: 1 })
  expect(stderr).toMatch(/^line 2: expected one JSON object/)
  expect(await feed.backlog()).toBe(2)
  await watchAll()
  expect(JSON.parse((await run(['status', '--json'])).stdout)).toMatchObject({
    documents: 2,
    stream: { backlog: 0, oldest_unacknowledged_seconds: null, refused: 0 },
  })
})

it('index status reports the backlog, the age of the oldest record and the dead letters', async () => {
  await feed.add('{"half')
  await watchAll()
  await feed.add(sourceOrder({ id: 'ord_1' }), sourceOrder({ id: 'ord_2' }))
  const { code, stdout } = await run(['status', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    stream: { backlog: 2, oldest_unacknowledged_seconds: expect.any(Number), refused: 1 },
  })
})

it('index check finds a committed change that the index lacks', async () => {
  await feed.add(sourceOrder({ id: 'ord_1' }), sourceOrder({ id: 'ord_2' }))
  await watchAll()
  env = { ...env, DATA_DIR: `${folder}/other` }
  await run(['load', '-'], line('ord_1'))
  await feed.add(sourceOrder({ id: 'ord_3' }))
  const { code, stdout } = await run(['check', '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({
    read: 2,
    missing: 1,
    extra: 0,
    examples: [{ kind: 'missing', account_id: 'acc_1', order_id: 'ord_2' }],
  })
})

describe('a problem with Kafka', () => {
  it('index status names KAFKA_BROKERS where no broker responds', async () => {
    env = { ...env, KAFKA_BROKERS: '127.0.0.1:1' }
    const { code, stdout, stderr } = await run(['status', '--json'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^no response from the brokers of KAFKA_BROKERS: .*ECONNREFUSED/)
    expect(JSON.parse(stdout)).toMatchObject({ stream: null })
  })

  it.each(['nowhere', 'dead letters'])(
    'the watch logs a missing topic (%s), waits for it, and continues',
    async (missing) => {
      const topic = missing === 'nowhere' ? feed.topic : feed.deadLetterTopic
      await feed.admin.deleteTopics({ topics: [topic] })
      await expect.poll(() => feed.admin.listTopics()).not.toContain(topic)
      const watch = watchInProcess(env)
      const { reason } = await watch.waitForLog('writes are failing')
      expect(reason).toContain(`Kafka has no topic "${topic}": create it, or correct KAFKA_TOPIC`)
      expect(JSON.parse(await watch.operations('/health/ready'))).toMatchObject({
        checks: { stream: 'unavailable' },
      })
      await feed.admin.createTopics({ topics: [topic], partitions: 1, replicas: 1 })
      await watch.waitForLog('writes recovered')
      expect(await watch.stop()).toBe(0)
    },
  )

  it('the watch names KAFKA_GROUP where another consumer is in the group', async () => {
    const member = await feed.joinGroup()
    await feed.add(sourceOrder({ id: 'ord_1' }))
    const watch = watchInProcess(env)
    const { reason } = await watch.waitForLog('writes are failing')
    expect(reason).toContain('set KAFKA_GROUP to a group that only this service uses')
    await member.leave()
    await watch.waitForLog('writes recovered')
    await expect.poll(feed.backlog, { timeout: 60_000 }).toBe(0)
    expect(await watch.stop()).toBe(0)
  })

  it('a watch with Kafka and a Redis stream exits 1 and names both settings', async () => {
    env = { ...env, STREAM_REDIS_URL: 'redis://127.0.0.1:1' }
    const { code, stderr } = await run(['watch'])
    expect(code).toBe(1)
    expect(stderr).toContain('KAFKA_BROKERS: expected no STREAM_REDIS_URL beside it')
  })

  it('a CA file that cannot be read is named', async () => {
    env = { ...env, KAFKA_CA_FILE: '/nowhere.pem' }
    const { code, stderr } = await run(['watch'])
    expect(code).toBe(1)
    expect(stderr).toContain('KAFKA_CA_FILE: cannot read a PEM certificate from /nowhere.pem')
  })
})
