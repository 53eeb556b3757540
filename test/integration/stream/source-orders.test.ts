import { afterEach, beforeEach, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import type { ChangeStream } from '../../../src/indexing/sources/change-stream.ts'
import { openChangeStream } from '../../../src/services.ts'
import { serveInProcess } from '../../support/cli/command.ts'
import { watchInProcess } from '../../support/cli/watch-process.ts'
import { createPushing, toNdjson } from '../../support/http/pushing.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { useServices } from '../../support/stores/use-services.ts'
import { type ChangeFeed, openChangeFeed } from '../../support/streams/change-feed.ts'

// POST /v1/source-orders with OpenSearch and a Redis.

const test = useServices()
let feed: ChangeFeed
let stream: ChangeStream
let pushing: ReturnType<typeof createPushing>
beforeEach(async () => {
  feed = openChangeFeed(test.env)
  stream = await openChangeStream(parseConfig(test.env), 'the test')
  pushing = createPushing(test.services, { stream })
})
afterEach(async () => {
  await pushing.close()
  await feed.close()
})

it('accepted orders are in the stream as they were sent; refused ones are not', async () => {
  const line = `  ${JSON.stringify({ ...sourceOrder(), unknown: 1 })}`
  const { status, json } = await pushing.send(`${line}\n\n{"id":"ord_2"}\n`)
  expect(status).toBe(202)
  expect(json).toEqual({
    object: 'source_order_results',
    refused: 1,
    data: [
      { line: 1, id: 'ord_1', result: 'accepted' },
      { line: 3, id: 'ord_2', result: 'refused', path: '/version', reason: 'is missing' },
    ],
  })
  const entries = await feed.redis.xrange(feed.stream, '-', '+')
  expect(entries.map(([, fields]) => fields)).toEqual([['order', line]])
  expect(await pushing.counted()).toEqual(['accepted', 'refused'])
})

it('a watch writes accepted orders, and what only it can refuse becomes a dead letter', async () => {
  const orders = [
    sourceOrder({ version: 2 }),
    sourceOrder({ version: 1 }),
    sourceOrder({ version: 3, owner_account_id: 'acc_2' }),
  ]
  expect(await pushing.push(...orders, orders[0] ?? {})).toEqual(Array(4).fill('ord_1 accepted'))
  const watch = watchInProcess(test.env)
  await feed.allProcessed()
  await watch.stop()
  await test.refresh()
  const stored = Buffer.from((await test.services.orders.get('acc_1', 'ord_1')) ?? [])
  expect(JSON.parse(stored.toString())).toMatchObject({ id: 'ord_1', role: 'OWNER' })
  const deadLetters = (await feed.deadLetters()).map(({ path }) => path)
  expect(deadLetters).toEqual(['/owner_account_id'])
})

it('without a response of Redis nothing is accepted', async () => {
  stream.close()
  const { status, json } = await pushing.send(toNdjson([sourceOrder()]))
  expect([status, json.error.code]).toEqual([503, 'service_unavailable'])
  expect(await feed.redis.xlen(feed.stream)).toBe(0)
})

it('serve warns about a stream whose Redis has no append-only file, only where it appends to it', async () => {
  const logOf = async (settings: Record<string, string>) => {
    const service = await serveInProcess([], { ...test.env, ...settings })
    await service.stop()
    return service.output().stderr
  }
  expect(await logOf({ MANAGEMENT_PORT: '0' })).toContain('has no append-only file')
  expect(await logOf({})).not.toContain('append-only')
})
