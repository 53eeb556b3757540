import { afterAll, beforeAll, expect, it } from 'vitest'
import { sandboxOf } from '../../../src/auth/account-ids.ts'
import { openChangeStream } from '../../../src/services.ts'
import { watchInProcess } from '../../support/cli/watch-process.ts'
import { useManagementApi } from '../../support/management/management-api.ts'
import { readOrder } from '../../support/orders/read-order.ts'
import { type ChangeFeed, openChangeFeed } from '../../support/streams/change-feed.ts'

// The sandbox over HTTP with OpenSearch and a Redis: a watch writes its orders.

const test = useManagementApi({ openStream: (config) => openChangeStream(config, 'the test') })
let feed: ChangeFeed
beforeAll(() => {
  feed = openChangeFeed(test.api.env)
})
afterAll(() => feed.close())

const ORDERS = '/accounts/acc_1/sandbox-orders'

async function create(): Promise<string> {
  const { status, json } = await test.api.post(ORDERS, { scenario: 'pix_awaiting' })
  expect(status).toBe(201)
  return json.id
}

async function move(id: string, name: string): Promise<void> {
  expect(await test.api.post(`${ORDERS}/${id}/${name}`)).toMatchObject({ status: 200 })
}

/** Runs a watch until the stream is empty. */
async function watchAll(): Promise<void> {
  const watch = watchInProcess(test.api.env)
  await feed.allProcessed()
  await watch.stop()
  await test.api.refresh()
}

/** The status that test keys of the account read; `null` when they see no such order. */
async function statusOf(id: string): Promise<string | null> {
  const order = await readOrder(test.api.services.orders, id, sandboxOf('acc_1'))
  return order?.status ?? null
}

it('a sandbox order is accepted into the stream, and visible once a watch wrote it', async () => {
  const id = await create()
  const entries = await feed.redis.xrange(feed.stream, '-', '+')
  expect(entries.map(([, [, order = '']]) => JSON.parse(order))).toMatchObject([
    { id, version: 1, owner_account_id: sandboxOf('acc_1') },
  ])
  expect(await statusOf(id)).toBeNull()
  await watchAll()
  expect(await statusOf(id)).toBe('AWAITING_PAYMENT')
})

it('moves work after the watch wrote the order, and before', async () => {
  const [written, waiting] = [await create(), await create()]
  await move(waiting, 'pay')
  await watchAll()
  expect(await Promise.all([written, waiting].map(statusOf))).toEqual(['AWAITING_PAYMENT', 'PAID'])
  await move(written, 'pay')
  await move(written, 'refund')
  await move(waiting, 'erase')
  await watchAll()
  expect(await Promise.all([written, waiting].map(statusOf))).toEqual(['REFUNDED', null])
  expect(await feed.deadLetters()).toEqual([])
})
