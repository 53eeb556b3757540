import { afterEach, beforeEach, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { type FaultyProxy, startFaultyProxy } from '../../harness/faulty-proxy/faulty-proxy.ts'
import {
  expectOutagesLoggedOnce,
  type RunningWatch,
  watchInProcess,
} from '../../support/cli/watch-process.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import {
  type Backend,
  createBackend,
  EXPIRING_LEASE,
  opensearch,
} from '../../support/stores/backend.ts'
import { type ChangeFeed, openChangeFeed } from '../../support/streams/change-feed.ts'

let backend: Backend
let feed: ChangeFeed
let services: Services
let proxy: FaultyProxy
let watches: RunningWatch[]
beforeEach(async () => {
  backend = createBackend()
  feed = openChangeFeed(backend.env)
  services = await openServices(parseConfig(backend.env))
  const [node = ''] = (process.env['OPENSEARCH_URL'] ?? '').split(',')
  proxy = await startFaultyProxy(Number(new URL(node).port))
  watches = []
})
afterEach(async () => {
  await Promise.all(watches.map((watch) => watch.stop()))
  await proxy.close()
  await services.close()
  await feed.close()
  await backend.remove()
})

/** A watch that reaches OpenSearch through the proxy. */
function start(env: Record<string, string> = {}): RunningWatch {
  const OPENSEARCH_URL = `http://127.0.0.1:${proxy.port}`
  const watch = watchInProcess({ ...backend.env, OPENSEARCH_URL, ...env })
  watches.push(watch)
  return watch
}

const isThere = async (id: string) => (await services.orders.get('acc_1', id)) !== null

it('the watch retries during an OpenSearch outage, logs it once and loses no change', async () => {
  const watch = start()
  await watch.becomesWriter()
  proxy.refuse = true
  proxy.resetConnections()
  await feed.add(sourceOrder(), '{"half')
  await watch.waitForLog('writes are failing')
  await expect
    .poll(() => watch.operations('/health/ready'))
    .toBe(
      '{"status":"unavailable","checks":{"orders":"unavailable","stamps":"unavailable","stream":"ok","alias":"ok"}}',
    )
  expect(await feed.backlog()).toBe(2)
  proxy.refuse = false
  await watch.waitForLog('writes recovered')
  await feed.allProcessed()
  expect(await isThere('ord_1')).toBe(true)
  expect(await feed.deadLetters()).toHaveLength(1)
  expectOutagesLoggedOnce(watch)
})

it('the watch retries when OpenSearch is unavailable at start', async () => {
  proxy.refuse = true
  const watch = start()
  await feed.add(sourceOrder())
  await watch.waitForLog('writes are failing')
  proxy.refuse = false
  await watch.becomesWriter()
  await feed.allProcessed()
  expect(await isThere('ord_1')).toBe(true)
})

it('the watch retries while the index is read-only and loses no change', async () => {
  const watch = start()
  await watch.becomesWriter()
  const settings = `${backend.env['INDEX_PREFIX']}orders*/_settings`
  await opensearch('PUT', settings, { 'index.blocks.read_only_allow_delete': true })
  await feed.add(sourceOrder())
  await watch.waitForLog('writes are failing')
  await opensearch('PUT', settings, { 'index.blocks.read_only_allow_delete': null })
  await watch.waitForLog('writes recovered')
  await feed.allProcessed()
  expect(await isThere('ord_1')).toBe(true)
  expect(await feed.deadLetters()).toEqual([])
})

it('the watch exits on SIGTERM during an OpenSearch outage', async () => {
  const watch = start(EXPIRING_LEASE) // It cannot release its lease.
  await watch.becomesWriter()
  proxy.refuse = true
  proxy.resetConnections()
  await feed.add(sourceOrder())
  await watch.waitForLog('writes are failing')
  await watch.stop()
  proxy.refuse = false
  start()
  await feed.allProcessed()
  expect(await isThere('ord_1')).toBe(true)
})
