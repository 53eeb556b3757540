import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { type RunningWatch, watchInProcess } from '../../support/cli/watch-process.ts'
import { readOrder } from '../../support/orders/read-order.ts'
import { sourceOrder, sourcePayment } from '../../support/orders/source-order.ts'
import { type Backend, createBackend, opensearch } from '../../support/stores/backend.ts'
import {
  type ChangeFeed,
  type FeedEntry,
  openChangeFeed,
} from '../../support/streams/change-feed.ts'

const MIB = 1024 * 1024

let backend: Backend
let feed: ChangeFeed
let services: Services
let watch: RunningWatch
beforeAll(async () => {
  backend = createBackend()
  feed = openChangeFeed(backend.env)
  services = await openServices(parseConfig(backend.env))
  watch = watchInProcess(backend.env)
  await watch.becomesWriter()
})
afterEach(() => feed.redis.del(feed.deadLetterStream))
afterAll(async () => {
  await watch.stop()
  await services.close()
  await feed.close()
  await backend.remove()
})

describe('a bad entry', () => {
  const tracking = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${n}`, 'v']))
  const deep = JSON.stringify(sourceOrder()).replace('"amount":9900', '"amount":{"cents":[9900]}')

  let count = 1
  const newOrder = () => sourceOrder({ id: `ord_${++count}` })

  it.each<[string, FeedEntry, string, string]>([
    ['a truncated line', '{"id":"ord_2","ver', '', 'this is not JSON'],
    ['nothing', '', '', 'this is blank'],
    ['a list', '[]', '', 'expected an object, got a list'],
    ['10 MB', `"${'x'.repeat(10 * MIB)}"`, '', 'longer than 4194304 bytes'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), '', 'not valid UTF-8'],
    ['a wrong type in a nested field', deep, '/payments/0/amount', 'expected an integer'],
    [
      'a fraction of a cent',
      sourceOrder({ payments: [sourcePayment({ fee: 0.5 })] }),
      '/payments/0/fee',
      'got 0.5',
    ],
    [
      'an instant without zone',
      sourceOrder({ created_at: '2026-03-01T12:00:00' }),
      '/created_at',
      'with time and zone',
    ],
    ['10,000 tracking keys', sourceOrder({ tracking }), '/tracking', 'expected'],
    [
      'another owner',
      sourceOrder({ id: 'ord_1', version: 2, owner_account_id: 'acc_2' }),
      '/owner_account_id',
      'the owner of an order never changes',
    ],
  ])(
    'an entry with %s is dead-lettered unchanged with path and reason, and the watch continues',
    async (...bad) => {
      const [, bytes, path, reason] = bad
      const [before, after] = [sourceOrder({ id: 'ord_1' }), newOrder()]
      const [, id = ''] = await feed.add(before, bytes, after)
      await feed.allProcessed()

      const [deadLetter, ...others] = await feed.deadLetters()
      const original =
        Buffer.isBuffer(bytes) || typeof bytes === 'string' ? bytes : JSON.stringify(bytes)
      expect(others).toEqual([])
      expect(deadLetter?.order?.equals(Buffer.from(original))).toBe(true)
      expect(deadLetter).toMatchObject({
        path,
        reason: expect.stringContaining(reason),
        entry_id: id,
      })
      expect(await services.orders.get('acc_1', after.id)).not.toBeNull()
      const line = watch.log().find(({ entry_id }) => entry_id === id)
      expect(line).toMatchObject({
        level: 40,
        path,
        msg: 'rejected: goes to the dead letters',
      })
    },
  )

  it('the log contains no personal data', async () => {
    await feed.add(sourceOrder({ customer: { name: 'Rita', email: 'rita@secret' } }))
    await feed.add({ ...sourceOrder(), customer: { name: 'Rita', email: 7, phone: 'secret' } })
    await feed.allProcessed()
    expect(watch.output()).not.toMatch(/Rita|secret/)
  })
})

describe('a document changed outside the writer', () => {
  const order = (id: string, version: number) =>
    sourceOrder({ id, version, owner_account_id: 'acc_hand', amount_total: version })
  const amount = async (id: string) =>
    (await readOrder(services.orders, id, 'acc_hand'))?.amount_total ?? null

  it.each<[string, object]>([
    ['is not an order', { account_id: 'acc_hand', id: 'ord_hand' }],
    ['has an invalid order', { ...documentKeys(), order: 'none' }],
    ['has an invalid date', { ...documentKeys(), updated_key: 9e18, order: {} }],
  ])(
    'a stored document that %s causes a dead letter, and the watch writes the other orders',
    async (_how, document) => {
      await feed.add(order('ord_hand', 1), order('ord_sound', 1))
      await feed.allProcessed()
      const place = `${backend.env['INDEX_PREFIX']}orders/_doc/acc_hand:ord_hand`
      await opensearch('PUT', `${place}?routing=acc_hand&refresh=true`, document)

      const [entry] = await feed.add(order('ord_hand', 2), order('ord_sound', 2))
      await feed.allProcessed()
      expect(await feed.deadLetters()).toMatchObject([
        { path: '', reason: expect.stringContaining('"index load --repair"'), entry_id: entry },
      ])
      expect(await amount('ord_sound')).toBe(2)

      // An erasure does not read the document.
      const deleted = { version: 3, owner_account_id: 'acc_hand', deleted: true }
      await feed.add({ id: 'ord_hand', ...deleted }, { id: 'ord_sound', ...deleted })
      await feed.allProcessed()
      expect(await feed.deadLetters()).toHaveLength(1)
      expect([await amount('ord_hand'), await amount('ord_sound')]).toEqual([null, null])
      const heads = `${backend.env['INDEX_PREFIX']}order-heads/_doc`
      for (const id of ['ord_hand', 'ord_sound']) await opensearch('DELETE', `${heads}/${id}`)
    },
  )

  it('a damaged version record causes a dead letter, and the watch writes the other orders', async () => {
    const heads = `${backend.env['INDEX_PREFIX']}order-heads`
    await feed.add(order('ord_head', 1), order('ord_sound', 1))
    await feed.allProcessed()
    await opensearch('PUT', `${heads}/_doc/ord_head`, { version: 1, owner: 'acc_hand' })

    const [entry] = await feed.add(order('ord_head', 2), order('ord_sound', 2))
    await feed.allProcessed()
    const place = `${heads}-v1/_doc/ord_head`
    const reason = `ord_head is damaged (accounts, created_at, filled, deleted in ${place})`
    expect(await feed.deadLetters()).toMatchObject([
      { path: '', reason: expect.stringContaining(reason), entry_id: entry },
    ])
    expect([await amount('ord_head'), await amount('ord_sound')]).toEqual([1, 2])

    await opensearch('DELETE', `${heads}/_doc/ord_head`)
    await feed.add(order('ord_head', 2))
    await feed.allProcessed()
    expect(await amount('ord_head')).toBe(2)
  })

  function documentKeys() {
    return { account_id: 'acc_hand', id: 'ord_hand', shape: 1, updated_key: 1 }
  }
})
