import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { readOrder } from '../support/orders/read-order.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { sharedBroker } from '../support/streams/broker.ts'
import { useKafkaWatch } from '../support/streams/use-kafka-watch.ts'

const test = useKafkaWatch(sharedBroker)

const PATIENT = { timeout: 60_000 }
const isDone = () => expect.poll(test.feed.backlog, PATIENT).toBe(0)

/** The amount of an order of `acc_1`; `undefined` when it does not exist. */
async function amount(id: string): Promise<number | undefined> {
  return (await readOrder(test.services.orders, id))?.amount_total
}

const order = (id: string, version = 1) => sourceOrder({ id, version, amount_total: version })
const record = (value: object, partition: number) => {
  return { value: Buffer.from(JSON.stringify(value)), key: 'ord', partition }
}

it('the watch writes existing and new records of every partition', async () => {
  await test.feed.addRecords(...[0, 1, 2].map((n) => record(order(`ord_${n}`), n)))
  const watch = test.start()
  await isDone()
  expect(await Promise.all(['ord_0', 'ord_1', 'ord_2'].map(amount))).toEqual([1, 1, 1])
  await test.feed.add(order('ord_0', 2))
  await isDone()
  expect(await amount('ord_0')).toBe(2)
  expect(await watch.metric('indexing_stream_backlog')).toBe(0)
  await expect.poll(() => watch.metric('indexing_lag_seconds_count'), PATIENT).toBe(4)
  expect(await watch.stop('SIGTERM')).toBe(0)
})

it('the order of the partitions does not matter: the greatest version stays', async () => {
  const deletion = { id: 'ord_2', version: 3, owner_account_id: 'acc_1', deleted: true }
  await test.feed.addRecords(record(order('ord_1', 3), 0), record(deletion, 0))
  await test.feed.addRecords(record(order('ord_1', 2), 1), record(order('ord_2', 2), 2))
  test.start()
  await isDone()
  expect([await amount('ord_1'), await amount('ord_2')]).toEqual([3, undefined])
})

it('invalid records become dead letters with the reason, and the watch continues', async () => {
  const [tombstone, empty, half, unknown] = await test.feed.addRecords(
    { value: null, key: 'ord_9' },
    { value: Buffer.alloc(0) },
    { value: Buffer.from('{"half') },
    { value: Buffer.from(JSON.stringify({ ...order('ord_1'), version: 'x' })) },
  )
  await test.feed.add(order('ord_2'))
  const watch = test.start()
  await isDone()
  expect(await amount('ord_2')).toBe(1)
  const letters = new Map(
    (await test.feed.deadLetters()).map((letter) => [letter.entry_id, letter]),
  )
  expect(letters.size).toBe(4)
  expect(letters.get(tombstone ?? '')).toMatchObject({
    key: 'ord_9',
    order: undefined,
    reason: expect.stringContaining('expected one source order'),
  })
  expect(letters.get(empty ?? '')?.reason).toContain('this is blank')
  expect(letters.get(half ?? '')).toMatchObject({
    order: Buffer.from('{"half'),
    reason: expect.stringContaining('this is not JSON'),
  })
  expect(letters.get(unknown ?? '')?.path).toBe('/version')
  await expect
    .poll(() => watch.log().find(({ entry_id }) => entry_id === half))
    .toMatchObject({ level: 40, msg: 'rejected: goes to the dead letters' })
  await expect.poll(() => watch.metric('indexing_changes_total{outcome="refused"}')).toBe(4)
})

it('a record whose write failed is not committed, and the next watch writes it', async () => {
  const watch = test.start()
  await expect.poll(test.feed.committed, PATIENT).toEqual([0, 0, 0])
  using db = new DatabaseSync(join(test.folder, 'orders.db'))
  db.exec('ALTER TABLE orders RENAME TO hidden')
  await test.feed.addRecords(record(order('ord_1'), 1))
  expect(await watch.ended()).toBe(1)
  expect(await test.feed.committed()).toEqual([0, 0, 0])
  db.exec('ALTER TABLE hidden RENAME TO orders')
  test.start()
  await isDone()
  expect(await amount('ord_1')).toBe(1)
  expect(await test.feed.committed()).toEqual([0, 1, 0])
})

it('records that retention removed before the write are logged and counted', async () => {
  const first = test.start()
  await test.feed.addRecords(record(order('ord_1'), 0))
  await isDone()
  expect(await first.stop('SIGTERM')).toBe(0)
  const records = Array.from({ length: 5 }, (_, n) => record(order(`ord_${n + 2}`), 0))
  await test.feed.addRecords(...records)
  await test.feed.removeBefore(0, 4)
  const watch = test.start()
  expect(await watch.waitForLog('removed from the stream')).toMatchObject({
    level: 50,
    lost: 3,
    entry_ids: ['0-1 to 0-3'],
  })
  await isDone()
  expect(await Promise.all(['ord_4', 'ord_5', 'ord_6'].map(amount))).toEqual([undefined, 1, 1])
  expect(await watch.metric('indexing_changes_lost_total')).toBe(3)
})

it('a second writer takes over at the committed offsets', async () => {
  const first = test.start()
  await test.feed.add(order('ord_1'))
  await isDone()
  const second = test.start()
  await second.standsBy()
  await test.feed.add(...Array.from({ length: 50 }, (_, n) => order(`ord_${n + 2}`)))
  expect(await first.stop('SIGKILL')).toBeNull()
  await second.becomesWriter()
  await isDone()
  expect(await Promise.all(Array.from({ length: 51 }, (_, n) => amount(`ord_${n + 1}`)))).toEqual(
    Array(51).fill(1),
  )
  expect(await test.feed.deadLetters()).toEqual([])
})
