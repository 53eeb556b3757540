import { afterEach, beforeEach, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { MINUTE_MS } from '../../../src/lib/durations.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { startWatch, type WatchProcess } from '../../support/cli/watch-process.ts'
import { readOrder } from '../../support/orders/read-order.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { type Backend, createBackend, EXPIRING_LEASE } from '../../support/stores/backend.ts'
import { type ChangeFeed, openChangeFeed } from '../../support/streams/change-feed.ts'

/** Maximum clock skew; beyond it, the writer rejects its clock. */
const AHEAD_MS = 4_000

let backend: Backend
let feed: ChangeFeed
let services: Services
let watches: WatchProcess[]
beforeEach(async () => {
  backend = createBackend()
  feed = openChangeFeed(backend.env)
  services = await openServices(parseConfig(backend.env))
  watches = []
})
afterEach(async () => {
  await Promise.all(watches.map((watch) => watch.stop('SIGKILL')))
  await services.close()
  await feed.close()
  await backend.remove()
})

async function start(skewMs: number, env: Record<string, string> = {}): Promise<WatchProcess> {
  const watch = startWatch({ ...backend.env, ...env }, skewMs)
  watches.push(watch)
  await watch.becomesWriter()
  return watch
}

/** Enqueues changes and waits until they are written. */
async function write(...changes: object[]): Promise<void> {
  await feed.add(...changes)
  await feed.allProcessed()
}

async function updatedAt(id: string): Promise<number> {
  const order = await readOrder(services.orders, id)
  return Date.parse(order?.updated_at ?? '')
}

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'after %s write timestamps continue above the greatest of an erased order with a slow clock',
  async (signal) => {
    const first = await start(AHEAD_MS, EXPIRING_LEASE)
    const writtenAfter = Date.now()
    await write(sourceOrder({ id: 'ord_last' }))
    const greatest = await updatedAt('ord_last')
    expect(greatest).toBeGreaterThan(writtenAfter + AHEAD_MS / 2)
    await write({ id: 'ord_last', version: 2, owner_account_id: 'acc_1', deleted: true })
    await first.stop(signal)

    await start(-MINUTE_MS)
    await write(sourceOrder({ id: 'ord_next' }))
    expect(await updatedAt('ord_next')).toBeGreaterThan(greatest)
  },
)

it('a change without new content keeps updated_at', async () => {
  await start(0)
  await write(sourceOrder({ version: 1 }))
  const before = await updatedAt('ord_1')
  await write(sourceOrder({ version: 2, changed_at: '2026-03-02T00:00:00Z' }))
  expect(await updatedAt('ord_1')).toBe(before)
})
