import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createMemoryStore, createOrdersClient, type Order } from '../../../src/client/client.ts'
import { createRandom } from '../../../src/demo/random.ts'
import { type RunningService, runCommand, startService } from '../../support/cli/command.ts'
import { startWatch, type WatchProcess } from '../../support/cli/watch-process.ts'
import { byEffort } from '../../support/effort.ts'
import { createHistory, type ExpectedOrder } from '../../support/simulation/change-history.ts'
import { type Backend, createBackend, EXPIRING_LEASE } from '../../support/stores/backend.ts'
import { type ChangeFeed, openChangeFeed } from '../../support/streams/change-feed.ts'

/** Each kind of failure occurs equally often and takes about 7 seconds. */
const ROUNDS = byEffort(1, 4)
const TROUBLES = ['stop', 'kill', 'freeze'] as const
const ACCOUNTS = ['acc_north', 'acc_south', 'acc_west']
const CHANGES_AT_ONCE = 40
const BETWEEN_CHANGES_MS = 100
/** Clock skew between processes; beyond it, the writer rejects its clock. */
const SKEW_MS = 4_000

let backend: Backend
let feed: ChangeFeed
let service: RunningService
let watches: WatchProcess[]
beforeAll(async () => {
  backend = createBackend()
  Object.assign(backend.env, EXPIRING_LEASE, { RATE_LIMIT_CAPACITY: '1000000' })
  feed = openChangeFeed(backend.env)
  watches = []
  expect((await runCommand(['index', 'init'], backend.env)).code).toBe(0)
  service = await startService([], backend.env)
})
afterAll(async () => {
  for (const watch of watches) watch.signal('SIGCONT')
  await Promise.all(watches.map((watch) => watch.stop('SIGKILL')))
  await service.stop()
  await feed.close()
  await backend.remove()
})

/** Starts a watch with this clock skew. */
function startSkewed(skewMs: number): WatchProcess {
  const watch = startWatch(backend.env, skewMs)
  watches.push(watch)
  return watch
}

/** Failures of the writer; a process 4 s behind or ahead takes over. */
async function trouble(
  writer: WatchProcess,
  standby: WatchProcess,
  kind: (typeof TROUBLES)[number],
): Promise<void> {
  if (kind === 'stop') expect(await writer.stop('SIGTERM')).toBe(0)
  if (kind === 'kill') await writer.stop('SIGKILL')
  if (kind === 'freeze') {
    writer.signal('SIGSTOP')
    await standby.becomesWriter()
    writer.signal('SIGCONT')
    await pause(500)
    await writer.stop('SIGTERM')
  }
}

async function createKey(account: string): Promise<string> {
  const args = ['keys', 'create', '--account', account]
  return (await runCommand(args, backend.env)).stdout.trim()
}

/** The orders of the account; undated ones change only with a full sync. */
function ordersOf(account: string, truth: ReadonlyMap<string, ExpectedOrder>) {
  const own = [...truth].filter(([id]) => id.startsWith(`${account}:`))
  return own.map(([id, rest]) => ({ id: id.slice(account.length + 1), ...rest }))
}

function withoutDate(order: Order | undefined): object | undefined {
  if (order === undefined) return undefined
  const { updated_at: _, ...rest } = order
  return rest
}

/** A sync store without overlap, so that only the service prevents gaps. */
async function openCopy(account: string) {
  const apiKey = await createKey(account)
  const { orders } = createOrdersClient({ baseUrl: service.baseUrl, apiKey })
  const store = createMemoryStore()
  return {
    orders: store.orders,
    sync: (fullSyncIntervalMs = Number.POSITIVE_INFINITY) =>
      orders.sync({ store, overlapMs: 0, fullSyncIntervalMs }),
  }
}

type Copy = Awaited<ReturnType<typeof openCopy>>

/**
 * The whole path of a change: the stream, index watch, the API and the client's sync store.
 * Meanwhile the watch is stopped, killed, frozen and resumed, and the clock of its successor
 * differs by 8 s.
 */
it('a synced copy of every account equals the orders despite every failure of the watch', async () => {
  const random = createRandom(2, 7, 0)
  const history = createHistory(3, ACCOUNTS)
  const copies = new Map<string, Copy>()
  for (const account of ACCOUNTS) copies.set(account, await openCopy(account))
  let isOver = false

  async function change(): Promise<void> {
    for (; !isOver; await pause(BETWEEN_CHANGES_MS)) {
      await feed.add(...Array.from({ length: CHANGES_AT_ONCE }, () => history.next()))
    }
  }
  async function follow(copy: Copy): Promise<void> {
    for (; !isOver; await pause(BETWEEN_CHANGES_MS)) await copy.sync()
  }
  async function watch(): Promise<void> {
    let writer = startSkewed(SKEW_MS)
    let skewMs = SKEW_MS
    for (const kind of Array.from({ length: ROUNDS }, () => TROUBLES).flat()) {
      skewMs = -skewMs
      await writer.becomesWriter()
      const standby = startSkewed(skewMs)
      await standby.standsBy()
      await pause(random.between(0, 4_000))
      // Once a round no writer runs for a while.
      if (kind === 'kill') await standby.stop('SIGTERM')
      await trouble(writer, standby, kind)
      writer = standby.hasEnded() ? startSkewed(skewMs) : standby
    }
    await writer.becomesWriter()
    isOver = true
  }

  await Promise.all([change(), watch(), ...[...copies.values()].map(follow)])
  await feed.allProcessed()
  await backend.refresh()

  const truth = history.truth()
  for (const [account, copy] of copies) {
    await copy.sync()
    const there = ordersOf(account, truth)
    const dated = there.filter((order) => order.dated)
    expect(dated.length).toBeGreaterThan(100)
    for (const { id, order } of dated) expect(withoutDate(copy.orders.get(id))).toEqual(order)

    await copy.sync(0)
    const copied = [...copy.orders].map(([id, order]) => [id, withoutDate(order)] as const)
    expect(new Map(copied)).toEqual(new Map(there.map(({ id, order }) => [id, order])))
  }
}, 300_000)
