import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseConfig } from '../../src/config/config.ts'
import { createRandom } from '../../src/demo/random.ts'
import type { SourceOrder } from '../../src/indexing/projection/source-order.ts'
import { createWriter } from '../../src/indexing/writer/writer.ts'
import type { Order } from '../../src/orders/order.ts'
import { openServices } from '../../src/services.ts'
import { FIRST_START_MS, type OpenSearchNode } from '../harness/services/opensearch/opensearch.ts'
import { type RunningRedis, startRedis } from '../harness/services/redis.ts'
import { runProcess, startCommand } from '../support/cli/command.ts'
import { createTestApp, type ListBody, ROOMY, type TestApp } from '../support/http/test-app.ts'
import { changeOf } from '../support/orders/changes.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import {
  createOrderGenerator,
  isVisible,
  type Version,
} from '../support/simulation/order-generator.ts'
import { walk } from '../support/simulation/walk.ts'
import { createBackend, opensearch, SHORT_DEADLINES } from '../support/stores/backend.ts'
import { type KillableCluster, startKillableCluster } from '../support/stores/killable-cluster.ts'
import { startDivertingProxy } from '../support/stores/scripted/diverting-proxy.ts'

const READER = 'acc_reader'
const TEST_MS = 600_000
const SHORT_PAUSE_MS = 20
/** The pause of a reader: hundreds of listings are enough. */
const READ_PAUSE_MS = 60
/** Below the failure detection time: a bulk times out and arrives when the node resumes. */
const BULK_DEADLINE_MS = '5000'
/**
 * A writer cannot renew its lease while the node with the lease document is frozen. A reindex that
 * waits for the writer would take over.
 */
const WRITER_LEASE_MS = '30000'
/**
 * A promoted replica may be behind by a refresh and return less than the sync store received,
 * so the client overlaps its reads.
 */
const OVERLAP_MS = 2_000
const ROLLBACK = ['index', 'reindex', '--rollback']
const DELETION = { id: 'ord_1', version: 2, owner_account_id: 'acc_1', deleted: true }

/** Orders without changes: every listing must contain them. */
const steady = Array.from({ length: 40 }, (_, n) =>
  sourceOrder({ id: `ord_steady_${n}`, owner_account_id: READER }),
)
const steadyIds = steady.map(({ id }) => id)

// The tests share one cluster, because its start dominates. The last test kills a node.
let cluster: KillableCluster
let redis: RunningRedis
let app: TestApp
let key: string
beforeAll(async () => {
  redis = await startRedis()
  cluster = await startKillableCluster(3)
  vi.stubEnv('REDIS_URL', redis.url)
  app = await createTestApp({ ...ROOMY, ...SHORT_DEADLINES })
  Object.assign(app.env, SHORT_DEADLINES) // Of the processes that share its stores.
  key = (await app.issue({ accountId: READER })).key
  await app.load(steady)
}, FIRST_START_MS)
afterAll(async () => {
  await app.close()
  await cluster.stop()
  await redis.stop()
})

const ORDER_BULK = /orders-w-\d+-v1\/_bulk/
const ORDER_READ = /orders(-w-\d+-v1)?\/_mget/
const ORDER_SCAN = /orders(-w-\d+)?-v1\/_search/

const otherThan = (node: OpenSearchNode) => cluster.nodes.find((other) => other !== node) ?? node

/**
 * Empty stores whose indices have their shards on the cluster, and a writer's settings for them.
 */
async function openStores() {
  const backend = createBackend()
  onTestFinished(() => backend.remove())
  const prefix = backend.env['INDEX_PREFIX']
  const orders = `${prefix}orders-v1`
  const init = await openServices(parseConfig(backend.env))
  await init.initialize()
  await init.close()
  const env = {
    ...backend.env,
    ...SHORT_DEADLINES,
    BULK_DEADLINE_MS: '5000',
    WRITER_LEASE_MS: '10000',
  }
  return { env, prefix, orders, primary: await cluster.nodeOfPrimary(orders) }
}

/** Services of a process whose requests a new proxy forwards to `node`. */
async function openThrough(env: Record<string, string>, node: OpenSearchNode) {
  const { url, divert, close } = await startDivertingProxy(node)
  const services = await openServices(parseConfig({ ...env, OPENSEARCH_URL: url }))
  async function closeAll() {
    await services.close()
    await close()
  }
  return { services, divert, close: closeAll }
}

/** A writer whose requests a new proxy forwards to `node`. */
async function openWriter(env: Record<string, string>, node: OpenSearchNode) {
  const { services, divert, close } = await openThrough(env, node)
  const index = await services.openIndex()
  const writer = createWriter(index, Date.now)
  async function closeAll() {
    await index.close()
    await close()
  }
  const writeAll = (orders: readonly (SourceOrder | typeof DELETION)[]) =>
    writer.write(orders.map(changeOf), 'live')
  const write = (order: SourceOrder | typeof DELETION) => writeAll([order])
  return { orders: services.orders, write, writeAll, divert, close: closeAll }
}

it('an erased order stays erased when a node resumes with a bulk of its first version', {
  timeout: TEST_MS,
}, async () => {
  const { env, orders, primary } = await openStores()
  const frozenNode = otherThan(primary)
  const writer = await openWriter(env, primary)
  onTestFinished(writer.close)
  const late = writer.divert({ path: ORDER_BULK, to: frozenNode })

  await cluster.sleep(frozenNode, async () => {
    expect(await writer.write(sourceOrder({ id: 'ord_1' }))).toEqual(['written'])
    expect(await writer.write(DELETION)).toEqual(['written'])
    // Simulates a shard relocation: the engine drops the versions of deletions.
    await opensearch('POST', `${orders}/_close`)
    await opensearch('POST', `${orders}/_open`)
    await opensearch('GET', `_cluster/health/${orders}?wait_for_status=yellow&timeout=60s`)
  })
  expect(await late.answer).not.toContain('"status":201')
  expect(await writer.orders.get('acc_1', 'ord_1')).toBeNull()
})

it('orders of a late bulk are listed again after a later bulk was visible and lost', {
  timeout: TEST_MS,
}, async () => {
  const { env, prefix, orders, primary } = await openStores()
  const replica = await cluster.nodeOfReplica(orders)
  const third = cluster.nodes.find((node) => node !== primary && node !== replica) ?? primary
  // Otherwise an index of the writer may have both copies on the nodes that are lost.
  await cluster.withoutShards(third, `${prefix}*`)
  const writer = await openWriter({ ...env, WRITER_LEASE_MS }, replica)
  onTestFinished(writer.close)
  const many = Array.from({ length: 3_000 }, (_, n) => sourceOrder({ id: `ord_${n}` }))
  let seen: number[] = []

  await cluster.sleep(third, async () => {
    await cluster.untilCopied()
    const late = writer.divert({ path: ORDER_BULK, to: third })
    const writing = writer.writeAll(many)
    await late.requested
    const lost = writer.divert({ path: ORDER_BULK, to: primary })
    await lost.requested
    // The primary replicates a bulk once it has written all of it.
    while (seen.length === 0) seen = await listedDates(orders)
    await cluster.sleepInstead(third, primary, async () => {
      expect(await late.answer).toContain('"status":201')
      expect(new Set(await writing)).toEqual(new Set(['written']))
      const last = Math.max(...seen)
      const listed = await listedDates(orders)
      expect(listed.filter((date) => date > last)).toHaveLength(many.length)
    })
  })
})

/** The dates of all orders of an index, as a listing by `updated_at_asc` reads them. */
async function listedDates(index: string): Promise<number[]> {
  await opensearch('POST', `${index}/_refresh`)
  const path = `${index}/_search?preference=_primary`
  const { hits } = await opensearch<{ hits: { hits: { _source: { updated_key: number } }[] } }>(
    'POST',
    path,
    { size: 10_000, _source: ['updated_key'] },
  )
  return hits.hits.map(({ _source }) => _source.updated_key)
}

describe('a node that left the cluster responds as the primary that it was', () => {
  it.each(['the same writer', 'the next writer'])(
    'but %s removes an order from an account that the node does not know',
    { timeout: TEST_MS },
    async (which) => {
      const { env, primary } = await openStores()
      const open = () => openWriter(env, otherThan(primary))
      let writer = await open()
      onTestFinished(() => writer.close())
      const shared = sourceOrder({ id: 'ord_1', coproducer_account_ids: ['acc_2'] })
      let read: ReturnType<typeof writer.divert> | undefined
      let removing: Promise<unknown> | undefined

      await cluster.sleep(primary, async () => {
        expect(await writer.write(shared)).toEqual(['written'])
        if (which === 'the next writer') {
          await writer.close()
          writer = await open()
        }
        read = writer.divert({ path: ORDER_READ, to: primary })
        removing = writer.write({ ...shared, version: 2, coproducer_account_ids: [] })
        await read.requested
      })
      expect(await removing).toEqual(['written'])
      expect(await read?.answer).toMatch(/"found":false|no such index/)
      expect(await writer.orders.get('acc_2', 'ord_1')).toBeNull()
    },
  )

  it('but an order that the node does not know is missing for the dispatcher, not removed', {
    timeout: TEST_MS,
  }, async () => {
    const { env, primary } = await openStores()
    const writer = await openWriter(env, otherThan(primary))
    onTestFinished(writer.close)
    const key = { accountId: 'acc_1', orderId: 'ord_1' }
    let read: ReturnType<typeof writer.divert> | undefined
    let reading: ReturnType<typeof writer.orders.getMany> | undefined

    await cluster.sleep(primary, async () => {
      expect(await writer.write(sourceOrder({ id: 'ord_1' }))).toEqual(['written'])
      read = writer.divert({ path: ORDER_READ, to: primary })
      reading = writer.orders.getMany([key])
      await read.requested
    })
    expect(await reading).toEqual(['missing'])
    expect(await writer.orders.getMany([key])).toEqual([expect.any(Uint8Array)])
  })

  it('but a reindex copies an order that the node does not know', {
    timeout: TEST_MS,
  }, async () => {
    const { env, primary } = await openStores()
    const writer = await openWriter(env, otherThan(primary))
    const { services, divert, close } = await openThrough(env, otherThan(primary))
    onTestFinished(close)
    let reindexing: Promise<unknown> | undefined

    await cluster.sleep(primary, async () => {
      expect(await writer.write(sourceOrder({ id: 'ord_1' }))).toEqual(['written'])
      await writer.close()
      const scan = divert({ path: ORDER_SCAN, to: primary, times: Infinity })
      reindexing = services.reindexing?.build()
      await scan.requested
    })
    expect(await reindexing).toMatchObject({ documents: 1 })
    expect(await services.orders.get('acc_1', 'ord_1')).not.toBeNull()
  })

  it('but no removal of sessions ends while the node does not know one of them', {
    timeout: TEST_MS,
  }, async () => {
    const { env, prefix } = await openStores()
    const init = await openServices(parseConfig(env))
    const session = { accountId: 'acc_1', subject: 'maria', capabilities: [], expiresAt: 9e12 }
    await init.managementStores.sessions.insert({ ...session, digest: 'd0' })
    await init.close()
    const primary = await cluster.nodeOfPrimary(`${prefix}console-sessions`)
    const { services, divert, close } = await openThrough(env, otherThan(primary))
    onTestFinished(close)
    const { managementStores: stores } = services
    let removing: Promise<unknown> | undefined

    await cluster.sleep(primary, async () => {
      await stores.sessions.insert({ ...session, digest: 'd1' })
      const search = divert({ path: /console-sessions\/_search/, to: primary })
      removing = stores.sessions.removeOf('acc_1').catch((error: unknown) => error)
      await search.requested
    })
    expect(await removing).toMatchObject({ message: expect.stringContaining('an outdated copy') })
    await stores.sessions.removeOf('acc_1')
    expect(await stores.sessions.find('d1')).toBeNull()
  })
})

/**
 * Another process writes and this one lists continuously during node failures. Meanwhile reindexes
 * change the number of shards.
 */
it('listings lose and skip no order while nodes freeze or die and reindexes change the shards', {
  timeout: TEST_MS,
}, async () => {
  const truth = new Map<string, Version>(steady.map((order) => [order.id, order]))
  const copy = new Map<string, Order>()
  const statuses = new Set<number>()
  const walks = { updated_at_asc: 0, created_at_desc: 0 }
  let [reindexes, failedReindexes, hasDisrupted] = [0, 0, false]
  const over = new AbortController()
  const writerEnv = { ...app.env, BULK_DEADLINE_MS, WRITER_LEASE_MS }

  /** Retries 503 responses; `call` validates each response against the OpenAPI description. */
  async function list(query: string): Promise<ListBody> {
    for (;;) {
      await pause(READ_PAUSE_MS)
      const { status, json, text } = await app.call(`/v1/orders?${query}`, { key })
      statuses.add(status)
      if (status === 200) return json
      expect(status, text).toBe(503)
    }
  }
  async function listAll(query: string): Promise<Order[]> {
    return (await walk({ list }, key, query)).flatMap(({ data }) => data)
  }

  async function listByCreation() {
    for (; !over.signal.aborted; walks.created_at_desc++) {
      const ids = (await listAll('sort=created_at_desc&limit=50')).map(({ id }) => id)
      expect(ids).toEqual([...new Set(ids)])
      expect(ids).toEqual(expect.arrayContaining(steadyIds))
    }
  }
  async function follow() {
    let since = ''
    for (; !over.signal.aborted; walks.updated_at_asc++) since = await catchUp(since)
    return since
  }
  async function catchUp(since: string) {
    const from = since && new Date(Date.parse(since) - OVERLAP_MS).toISOString()
    const rows = await listAll(`sort=updated_at_asc&limit=50${from && `&updated_gte=${from}`}`)
    for (const order of rows) copy.set(order.id, order)
    return rows.reduce((last, { updated_at: at }) => (at && at > last ? at : last), since)
  }

  async function write() {
    const generator = createOrderGenerator(
      createRandom(11, 0, 0),
      READER,
      Date.parse('2026-03-01T12:00:00Z'),
    )
    const load = startCommand(['index', 'load', '-', '--live'], writerEnv)
    onTestFinished(() => void load.kill('SIGKILL'))
    const ended = Promise.all([text(load.stderr), once(load, 'close')])
    load.stdin.on('error', () => {}) // The process has ended; its exit code is checked below.
    while (!over.signal.aborted && load.exitCode === null) {
      const version = generator.change()
      truth.set(version.id, version)
      load.stdin.write(`${JSON.stringify(version)}\n`)
      await pause(SHORT_PAUSE_MS)
    }
    load.stdin.end()
    const [stderr] = await ended
    expect(load.exitCode, stderr).toBe(0)
    expect(stderr).toMatch(/(?<!aliases|is full); retrying/)
  }

  /** Waits until a listing of each sort that starts after this call has ended. */
  async function untilListed() {
    const [asc, desc] = [walks.updated_at_asc + 2, walks.created_at_desc + 2]
    while (walks.updated_at_asc < asc || walks.created_at_desc < desc)
      await pause(SHORT_PAUSE_MS, undefined, { signal: over.signal })
  }
  /** Repeats a failed reindex, which then continues, as an operator does. */
  async function reindex(...args: string[]) {
    for (;;) {
      const { code, stderr } = await runProcess(['index', 'reindex', ...args], writerEnv)
      if (code === 0) return
      if (over.signal.aborted) throw new Error(stderr)
      failedReindexes++
      // The response to its last step was lost.
      if (stderr.includes('is still a write target')) return
      // The response to its first step was lost.
      if (stderr.includes('no writer writes to it')) await runProcess(ROLLBACK, writerEnv)
    }
  }
  async function changeShards() {
    for (let isDone = false; !isDone; reindexes++) {
      isDone = over.signal.aborted || hasDisrupted
      await reindex('--shards', `${reindexes % 2 === 0 ? 3 : 2}`)
      await reindex('--finish')
    }
  }
  async function disrupt() {
    // Waits for the start of the load, which cannot start while a node is frozen, and for several
    // shards.
    while (copy.size <= steady.length || reindexes === 0)
      await pause(SHORT_PAUSE_MS, undefined, { signal: over.signal })
    for (const node of cluster.nodes) await cluster.sleep(node, untilListed)
    await cluster.kill(await cluster.nodeOfPrimary(`${app.config.indexPrefix}orders`))
    await untilListed()
    hasDisrupted = true
    await changing
  }

  const changing = changeShards()
  const following = follow()
  const working = [disrupt(), following, listByCreation(), write()]
  await Promise.race(working).finally(() => {
    over.abort()
    return Promise.allSettled(working)
  })
  await Promise.all(working)
  console.info(`${reindexes} reindexes, of which ${failedReindexes} runs failed`, walks)
  await app.refresh()
  await catchUp(await following)

  const expected = [...truth.values()].filter((version) => isVisible(version, READER)).map(rowOf)
  for (const sort of ['updated_at_asc', 'created_at_desc']) {
    const listed = await listAll(`sort=${sort}&limit=100`)
    expect(listed).toHaveLength(expected.length)
    expect(new Map(listed.map(rowOf))).toEqual(new Map(expected))
    const dated = listed.filter(({ updated_at }) => updated_at !== null)
    expect(dated.map(({ id }) => copy.get(id))).toEqual(dated)
  }
  expect(statuses).toEqual(new Set([200, 503]))
})

/** An order by id: its content, which identifies the version, and whether it is dated. */
function rowOf(order: Order | SourceOrder) {
  const date = 'updated_at' in order ? order.updated_at : order.changed_at
  return [order.id, { content: order.amount_total, isDated: date != null }] as const
}
