import { afterEach, beforeEach, expect, it } from 'vitest'
import { connectOpenSearch } from '../../../src/stores/opensearch/client/client.ts'
import { createStoreClock } from '../../../src/stores/opensearch/write/lease/store-clock.ts'
import { runCommand } from '../../support/cli/command.ts'
import { startWatch, type WatchProcess } from '../../support/cli/watch-process.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { type Backend, createBackend, opensearch } from '../../support/stores/backend.ts'
import { writeFutureTimestamps } from '../../support/stores/future-timestamps.ts'
import { respond, startServer } from '../../support/stores/scripted/scripted-server.ts'
import { type ChangeFeed, openChangeFeed } from '../../support/streams/change-feed.ts'

const FOUR_YEARS_MS = 4 * 365 * 86_400_000

let backend: Backend
let feed: ChangeFeed
let watches: WatchProcess[]
beforeEach(() => {
  backend = createBackend()
  feed = openChangeFeed(backend.env)
  watches = []
})
afterEach(async () => {
  await Promise.all(watches.map((watch) => watch.stop('SIGKILL')))
  await feed.close()
  await backend.remove()
})

function start(skewMs = 0): WatchProcess {
  const watch = startWatch(backend.env, skewMs)
  watches.push(watch)
  return watch
}

const load = (order: object) =>
  runCommand(['index', 'load', '-'], backend.env, JSON.stringify(order))
const health = async (watch: WatchProcess) => JSON.parse(await watch.operations('/health/ready'))

it('a watch with a clock ahead of the cluster exits 1, so that a correct standby takes over', async () => {
  await load(sourceOrder())
  const wrong = start(FOUR_YEARS_MS)
  expect(await wrong.ended()).toBe(1)
  expect(wrong.output()).toContain('s ahead of the clock of OpenSearch')
  await feed.add(sourceOrder({ id: 'ord_2' }))
  await start().becomesWriter()
  await feed.allProcessed()
})

it('a watch on an index stamped ahead keeps running, reports the offset and resumes after the repair', async () => {
  await load(sourceOrder())
  await writeFutureTimestamps(backend, Date.now() + FOUR_YEARS_MS)
  const watch = start()
  const { reason } = await watch.waitForLog('writes are failing')
  expect(reason).toContain('s ahead of the clock of OpenSearch')
  await expect
    .poll(() => health(watch))
    .toMatchObject({
      status: 'unavailable',
      checks: { stamps: 'unavailable', orders: 'ok', stream: 'ok' },
    })
  const ahead = await watch.metric('indexing_stamps_ahead_seconds')
  expect(ahead).toBeGreaterThan(FOUR_YEARS_MS / 1000 - 120)

  await writeFutureTimestamps(backend, Date.now() - 1_000)
  await watch.becomesWriter()
  await feed.add(sourceOrder({ version: 2, amount_total: 1 }))
  await feed.allProcessed()
  await expect.poll(() => watch.metric('indexing_stamps_ahead_seconds')).toBe(0)
  await expect.poll(() => health(watch)).toMatchObject({ status: 'ok' })
})

it('write timestamps stay above those of the orders after the lease is deleted', async () => {
  await load(sourceOrder())
  await writeFutureTimestamps(backend, Date.now() + FOUR_YEARS_MS)
  await opensearch('DELETE', `${backend.env['INDEX_PREFIX']}writer-v*`)
  const { code, stderr } = await load(sourceOrder({ id: 'ord_2' }))
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('the write timestamps of the index'),
  })
})

it('the clock of the cluster is read from its nodes', async () => {
  const urls = (process.env['OPENSEARCH_URL'] ?? '').split(',')
  const clock = createStoreClock(connectOpenSearch({ urls }), 10_000)
  const before = Date.now()
  const read = await clock.read()
  expect(Math.abs(read - before)).toBeLessThan(10_000)
  expect(clock.now()).toBeGreaterThanOrEqual(read)
})

it.each([
  ['of three nodes is the middle one', [9_000_000, 1_000, 2_000], 2_000],
  ['of two nodes is the earlier one', [9_000_000, 1_000], 1_000],
])('the clock of the cluster %s', async (_name, times, expected) => {
  const nodes = Object.fromEntries(times.map((timestamp, n) => [`n${n}`, { timestamp }]))
  const server = await startServer([respond(200, { nodes })])
  const clock = createStoreClock(connectOpenSearch({ urls: [server.url] }), 10_000)
  const read = await clock.read().finally(() => server.close())
  expect(read).toBeGreaterThanOrEqual(expected)
  expect(read).toBeLessThan(expected + 10_000)
  expect(server.received[0]?.path).toContain('/_nodes/stats/breaker')
})

it('the clock of the cluster is unavailable while no node reports its time', async () => {
  const server = await startServer([respond(200, { nodes: {} })])
  const clock = createStoreClock(connectOpenSearch({ urls: [server.url] }), 1_000)
  await expect(clock.read().finally(() => server.close())).rejects.toThrow('returned its time')
})
