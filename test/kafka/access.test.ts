import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  AclOperations,
  type AclOperationValue,
  AclPermissionTypes,
  ResourcePatternTypes,
  ResourceTypes,
  type ResourceTypeValue,
} from '@platformatic/kafka'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { makeCertificate } from '../harness/services/certificate.ts'
import { addScramUser, type RunningKafka, startKafka } from '../harness/services/kafka/kafka.ts'
import { runCommand } from '../support/cli/command.ts'
import { watchInProcess } from '../support/cli/watch-process.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { temporaryFolder } from '../support/stores/backend.ts'
import { createTestFolder } from '../support/stores/test-folder.ts'
import { type KafkaFeed, openKafkaFeed } from '../support/streams/kafka-feed.ts'

// A broker with TLS, logins and access rules.

const PASSWORD = 'correct-horse'
const { READ, WRITE, DESCRIBE } = AclOperations
const { TOPIC, GROUP } = ResourceTypes

let kafka: RunningKafka
let certificates: ReturnType<typeof temporaryFolder>
let caFile: string
beforeAll(async () => {
  const { key, cert, ca: authority } = await makeCertificate()
  certificates = temporaryFolder()
  caFile = join(certificates.folder, 'ca.pem')
  writeFileSync(caFile, authority)
  kafka = await startKafka({
    protocol: 'SASL_SSL',
    files: { 'broker.pem': `${key}\n${cert}` },
    properties: {
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.location': 'broker.pem',
      'sasl.enabled.mechanisms': 'SCRAM-SHA-512,PLAIN',
      'listener.name.client.scram-sha-512.sasl.jaas.config':
        'org.apache.kafka.common.security.scram.ScramLoginModule required;',
      'listener.name.client.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required user_plain="${PASSWORD}";`,
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS;User:plain',
    },
  })
  await addScramUser(kafka, 'orders', PASSWORD)
})
afterAll(async () => {
  await kafka.stop()
  certificates.remove()
})

let folder: string
let feed: KafkaFeed
let env: Record<string, string>
beforeEach(async () => {
  folder = createTestFolder()
  feed = await openKafkaFeed(kafka.plainBroker, { partitions: 1 })
  env = {
    DATA_DIR: folder,
    ...feed.env,
    KAFKA_BROKERS: kafka.broker,
    KAFKA_CA_FILE: caFile,
    KAFKA_USER: 'orders',
    KAFKA_PASSWORD: PASSWORD,
  }
})
afterEach(async () => {
  await feed.close()
})

async function allow(
  resourceType: ResourceTypeValue,
  resourceName: string,
  ...operations: AclOperationValue[]
): Promise<void> {
  await feed.admin.createAcls({
    creations: operations.map((operation) => ({
      resourceType,
      resourceName,
      resourcePatternType: ResourcePatternTypes.LITERAL,
      principal: 'User:orders',
      host: '*',
      operation,
      permissionType: AclPermissionTypes.ALLOW,
    })),
  })
}

/** What the watch reports until `fix` is done; then it must write. */
async function reasonUntil(fix: () => Promise<void>): Promise<unknown> {
  await feed.add(sourceOrder())
  const watch = watchInProcess(env)
  const { reason } = await watch.waitForLog('writes are failing')
  await fix()
  await watch.waitForLog('writes recovered')
  await expect.poll(feed.backlog, { timeout: 60_000 }).toBe(0)
  expect(await watch.stop()).toBe(0)
  expect(watch.output()).not.toContain(PASSWORD)
  return reason
}

it('the watch needs rights on both topics and the group, and names what is missing', async () => {
  expect(
    await reasonUntil(async () => {
      await allow(TOPIC, feed.topic, READ, WRITE, DESCRIBE)
      await allow(TOPIC, feed.deadLetterTopic, WRITE, DESCRIBE)
      await allow(GROUP, feed.env.KAFKA_GROUP, READ)
    }),
  ).toContain(`Kafka denies KAFKA_USER a topic: grant Read, Write and Describe on "${feed.topic}"`)
})

it('a missing right on the group names KAFKA_GROUP', async () => {
  await allow(TOPIC, feed.topic, READ, WRITE, DESCRIBE)
  await allow(TOPIC, feed.deadLetterTopic, WRITE, DESCRIBE)
  const reason = await reasonUntil(() => allow(GROUP, feed.env.KAFKA_GROUP, READ))
  expect(reason).toContain('the consumer group of KAFKA_GROUP: grant Read on the group')
})

it('a wrong password is named as the cause, without the password', async () => {
  env = { ...env, KAFKA_PASSWORD: 'battery-staple' }
  const { code, stderr } = await runCommand(['index', 'status'], env)
  expect(code).toBe(1)
  expect(stderr).toContain('Kafka rejected the login: check KAFKA_USER, KAFKA_PASSWORD')
  expect(stderr).not.toContain('battery-staple')
})

it('a login with PLAIN works', async () => {
  env = { ...env, KAFKA_USER: 'plain', KAFKA_SASL_MECHANISM: 'PLAIN' }
  const { code, stderr } = await runCommand(['index', 'status'], env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

it('a certificate of an unknown CA is rejected', async () => {
  const { KAFKA_CA_FILE: _, ...others } = env
  env = { ...others, KAFKA_TLS: 'true' }
  const { code, stderr } = await runCommand(['index', 'status'], env)
  expect(code).toBe(1)
  expect(stderr).toMatch(/KAFKA_BROKERS.*unable to verify the first certificate/)
})

it('index check and status read every partition, also above the quota of their client', async () => {
  const split = await openKafkaFeed(kafka.plainBroker, { partitions: 2 })
  const settings = { DATA_DIR: folder, ...split.env }
  const orders = Array.from({ length: 40 }, (_, n) => sourceOrder({ id: `ord_${n}` }))
  await split.addRecords(
    ...orders.map((order, n) => ({ value: Buffer.from(JSON.stringify(order)), partition: n % 2 })),
  )
  const watch = watchInProcess(settings)
  await expect.poll(split.backlog, { timeout: 60_000 }).toBe(0)
  await watch.stop()

  const entities = [{ entityType: 'client-id', entityName: 'public-orders-api' }] as const
  /** `null` removes it. */
  async function setQuota(value: number | null): Promise<void> {
    const key = 'consumer_byte_rate' as const
    const op = value === null ? ({ key, remove: true } as const) : { key, value, remove: false }
    await split.admin.alterClientQuotas({ entries: [{ entities: [...entities], ops: [op] }] })
  }
  await setQuota(2_000)
  try {
    const { code, stdout } = await runCommand(['index', 'check', '--json'], settings)
    expect({ code, report: JSON.parse(stdout) }).toMatchObject({ code: 0, report: { read: 40 } })
    await split.add(sourceOrder({ id: 'ord_40' }))
    // What the check has read exceeds it.
    await setQuota(500)
    const { stdout: status } = await runCommand(['index', 'status', '--json'], settings)
    const { stream } = JSON.parse(status)
    expect(stream).toMatchObject({ backlog: 1, oldest_unacknowledged_seconds: expect.any(Number) })
  } finally {
    await setQuota(null)
    await split.close()
  }
})
