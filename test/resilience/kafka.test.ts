import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRandom } from '../../src/demo/random.ts'
import { type RunningKafka, startKafka } from '../harness/services/kafka/kafka.ts'
import { expectOutagesLoggedOnce } from '../support/cli/watch-process.ts'
import { byEffort } from '../support/effort.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { createHistory } from '../support/simulation/change-history.ts'
import { readStoredEmbedded } from '../support/stores/stored-orders.ts'
import { killWriters } from '../support/streams/kill-writers.ts'
import { useKafkaWatch } from '../support/streams/use-kafka-watch.ts'

const KILLS = byEffort(6, 20)
const CHANGES_A_KILL = 1_000
const ACCOUNTS = Array.from({ length: 10 }, (_, n) => `acc_${n}`)
const PATIENT = { timeout: 120_000 }

let kafka: RunningKafka
beforeAll(async () => {
  // A killed broker registers again when its session has ended. A busy one keeps its session.
  kafka = await startKafka({ properties: { 'broker.session.timeout.ms': '3000' } })
})
afterAll(() => kafka.stop())

const test = useKafkaWatch(() => kafka.plainBroker)

const isDone = () => expect.poll(() => test.feed.backlog().catch(() => -1), PATIENT).toBe(0)
const isWritten = (id: string) =>
  expect.poll(() => test.services.orders.get('acc_1', id), PATIENT).not.toBeNull()
const order = (id: string) => sourceOrder({ id })

it(`a watch that is killed ${KILLS} times loses none of ${KILLS * CHANGES_A_KILL} changes`, async () => {
  const history = createHistory(1, ACCOUNTS)
  const { writer, bad } = await killWriters({
    ...{ start: test.start, add: test.feed.add, history, random: createRandom(1, 6, 1) },
    ...{ kills: KILLS, changesPerKill: CHANGES_A_KILL },
  })
  await isDone()
  expect(await writer.stop('SIGTERM')).toBe(0)
  expect(readStoredEmbedded(test.folder)).toEqual(history.truth())
  // A kill between the dead letter and the commit of its offset repeats it.
  const letters = new Set((await test.feed.deadLetters()).map(({ entry_id }) => entry_id))
  expect(letters).toEqual(new Set(bad))
}, 480_000)

it('the watch loses no change when the broker is killed while changes flow', async () => {
  const watch = test.start()
  const ids = Array.from({ length: 1_500 }, (_, n) => `ord_${n}`)
  await test.feed.add(...ids.slice(0, 500).map(order))
  await isWritten('ord_0')
  // The feed repeats what it sent without a response, as a platform does.
  const adding = test.feed.add(...ids.slice(500).map(order))
  await kafka.restart()
  await adding
  await isDone()
  const found = await Promise.all(ids.map((id) => test.services.orders.get('acc_1', id)))
  expect(found.filter((json) => json === null)).toEqual([])
  expect(await test.feed.deadLetters()).toEqual([])
  expect(await watch.stop('SIGTERM')).toBe(0)
})

it('the watch retries while the broker is down, logs it once and is not ready', async () => {
  const watch = test.start()
  await test.feed.add(order('ord_1'), '{"half')
  await isDone()
  await kafka.kill()
  const { reason } = await watch.waitForLog('writes are failing')
  expect(reason).toMatch(/^no response from the brokers of KAFKA_BROKERS: /)
  await expect
    .poll(async () => JSON.parse(await watch.operations('/health/ready')))
    .toMatchObject({ checks: { orders: 'ok', stream: 'unavailable' } })
  await kafka.restart()
  await test.feed.add(order('ord_2'))
  await isWritten('ord_2')
  await watch.waitForLog('writes recovered')
  expectOutagesLoggedOnce(watch)
  expect(await test.feed.deadLetters()).toHaveLength(1)
  expect(await watch.stop('SIGTERM')).toBe(0)
})

it('the watch retries when the broker is down at its start', async () => {
  await kafka.kill()
  const watch = test.start()
  const { reason } = await watch.waitForLog('writes are failing')
  expect(reason).toMatch(/^no response from the brokers of KAFKA_BROKERS: .*ECONNREFUSED/)
  await kafka.restart()
  await watch.waitForLog('writes recovered')
})

it('the watch retries while the broker hangs', async () => {
  const watch = test.start()
  await isDone()
  process.kill(kafka.pid, 'SIGSTOP')
  try {
    const { reason } = await watch.waitForLog('writes are failing')
    expect(reason).toMatch(/Kafka did not respond within|no response from the brokers/)
  } finally {
    process.kill(kafka.pid, 'SIGCONT')
  }
  await test.feed.add(order('ord_1'))
  await isWritten('ord_1')
  await watch.waitForLog('writes recovered')
})
