import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import type { SourceOrder } from '../../src/indexing/projection/source-order.ts'
import type { Order } from '../../src/orders/order.ts'
import { defaultSettings } from '../../src/webhooks/dispatcher/dispatcher-settings.ts'
import { FIRST_START_MS } from '../harness/services/opensearch/opensearch.ts'
import { type RunningRedis, startRedis } from '../harness/services/redis.ts'
import { type ApiServer, startApiServer } from '../support/cli/api-server.ts'
import { runCommand } from '../support/cli/command.ts'
import { startWatch } from '../support/cli/watch-process.ts'
import { type ListBody, ROOMY } from '../support/http/test-app.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { walk } from '../support/simulation/walk.ts'
import { opensearch } from '../support/stores/backend.ts'
import { type KillableCluster, startKillableCluster } from '../support/stores/killable-cluster.ts'
import { openChangeFeed } from '../support/streams/change-feed.ts'
import {
  becomesDispatcher,
  type Delivering,
  openDelivering,
} from '../support/webhooks/delivering.ts'

const TEST_MS = 600_000
const ORDERS = 40
/** So many that several requests to a node break together when it stops. */
const READERS_AT_ONCE = 24
const BETWEEN_CHANGES_MS = 50
const BETWEEN_READS_MS = 200
/** A promoted replica may be behind by a refresh: see docker/recovery.md. */
const OVERLAP_MS = 2_000
const PATIENTLY = { timeout: 120_000, interval: 200 }
/** A promoted replica may also miss a new delivery, which the dispatcher's reload finds. */
const UNTIL_RELOADED = { timeout: defaultSettings.reloadMs + 60_000, interval: 200 }

/**
 * The connections of this process by port. Only the API connects to a node that restarts, since the
 * test queries the others.
 */
const connections = new Map<number, number>()
function countConnection(message: unknown): void {
  const { socket } = message as { socket: Socket }
  socket.once('connect', () => {
    const { remotePort: port = 0 } = socket
    connections.set(port, (connections.get(port) ?? 0) + 1)
  })
}

let cluster: KillableCluster
let redis: RunningRedis
let delivering: Delivering
let api: ApiServer
let key: string
beforeAll(async () => {
  subscribe('net.client.socket', countConnection)
  redis = await startRedis()
  cluster = await startKillableCluster(3)
  vi.stubEnv('REDIS_URL', redis.url)
  await opensearch('PUT', '_cluster/settings', {
    persistent: { 'cluster.routing.allocation.node_concurrent_recoveries': 20 },
  })
  delivering = await openDelivering()
  Object.assign(delivering.env, ROOMY)
  await run('index', 'init')
  key = (await run('keys', 'create', '--account', 'acc_1')).trim()
  api = await startApiServer(delivering.env)
}, FIRST_START_MS)
afterAll(async () => {
  unsubscribe('net.client.socket', countConnection)
  await api.close()
  await delivering.close()
  await cluster.stop()
  await redis.stop()
})

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(args, delivering.env)
  if (code !== 0) throw new Error(`${stdout}\n${stderr}`)
  return stdout
}

/** Returns a response of the API, and repeats a request that gets 503. */
async function read<T>(path: string): Promise<T> {
  for (;;) {
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${api.baseUrl}/v1/orders${path}`, { headers })
    const body: unknown = await response.json()
    if (response.ok) return body as T
    const { status } = response
    const retryAfter = response.headers.get('retry-after')
    expect({ status, retryAfter }).toEqual({
      status: 503,
      retryAfter: expect.stringMatching(/^\d+$/),
    })
    await pause(BETWEEN_READS_MS)
  }
}
const list = (query: string) => read<ListBody>(`?${query}`)

const amounts = (orders: ReadonlyMap<string, Pick<Order, 'amount_total'>>) =>
  new Map([...orders].map(([id, { amount_total }]) => [id, amount_total]))

it('a rolling restart loses no change and no event, and each node gets requests again', {
  timeout: TEST_MS,
}, async () => {
  const { env, receiver } = delivering
  const truth = new Map<string, SourceOrder>()
  const copy = new Map<string, Order>()
  const over = new AbortController()
  const feed = openChangeFeed(env)
  const watch = startWatch(env)
  onTestFinished(async () => {
    await watch.stop('SIGKILL')
    await feed.close()
  })
  await delivering.subscribe()
  const dispatcher = delivering.startDeliver()
  await watch.becomesWriter()
  await becomesDispatcher(dispatcher)

  async function write() {
    for (let n = 0; !over.signal.aborted; n++) {
      const id = `ord_${n % ORDERS}`
      const version = (truth.get(id)?.version ?? 0) + 1
      const order = sourceOrder({ id, version, amount_total: version })
      truth.set(id, order)
      await feed.add(order)
      await pause(BETWEEN_CHANGES_MS)
    }
  }
  async function follow() {
    let since = ''
    for (; !over.signal.aborted; await pause(BETWEEN_READS_MS)) since = await catchUp(since)
    return since
  }
  async function catchUp(since: string) {
    const from = since && new Date(Date.parse(since) - OVERLAP_MS).toISOString()
    const query = `sort=updated_at_asc&limit=20${from && `&updated_gte=${from}`}`
    const rows = (await walk({ list }, key, query)).flatMap(({ data }) => data)
    for (const order of rows) copy.set(order.id, order)
    return rows.reduce((last, { updated_at: at }) => (at && at > last ? at : last), since)
  }
  async function readAtOnce() {
    for (; !over.signal.aborted; await pause(BETWEEN_READS_MS)) {
      const pages = Array.from({ length: READERS_AT_ONCE }, () => list('limit=1'))
      const orders = [...copy.keys()].slice(0, READERS_AT_ONCE).map((id) => read(`/${id}`))
      await Promise.all([...pages, ...orders])
    }
  }
  async function restartAll() {
    for (const node of cluster.nodes) {
      const port = Number(new URL(node.url).port)
      await cluster.restart(node, () => connections.delete(port))
      // A ping needs one connection, and requests at the same time need more.
      await expect.poll(() => connections.get(port) ?? 0, PATIENTLY).toBeGreaterThan(1)
    }
  }

  const following = follow()
  const working = [restartAll(), following, write(), readAtOnce()]
  await Promise.race(working).finally(() => {
    over.abort()
    return Promise.allSettled(working)
  })
  await Promise.all(working)
  await expect.poll(feed.backlog, PATIENTLY).toBe(0)
  await delivering.backend.refresh()
  await catchUp(await following)

  expect(amounts(copy)).toEqual(amounts(truth))
  const file = join(delivering.backend.folder, 'orders.ndjson')
  writeFileSync(file, [...truth.values()].map((order) => `${JSON.stringify(order)}\n`).join(''))
  await run('index', 'check', file)
  // Each version is one event, and the first is two: created and paid.
  const events = [...truth.values()].flatMap(({ id, version }) =>
    Array.from({ length: version + 1 }, (_, n) => `${id} ${n + 1}`),
  )
  const received = () =>
    new Set(receiver.received.map(({ body }) => `${body.order_id} ${body.sequence}`))
  await expect.poll(() => received().size, UNTIL_RELOADED).toBeGreaterThanOrEqual(events.length)
  expect(received()).toEqual(new Set(events))
  expect(await watch.stop('SIGTERM')).toBe(0)
  expect(await dispatcher.stop('SIGTERM')).toBe(0)
})
