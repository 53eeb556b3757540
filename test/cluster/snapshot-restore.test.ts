import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Order } from '../../src/orders/order.ts'
import {
  FIRST_START_MS,
  type RunningOpenSearch,
  startOpenSearch,
} from '../harness/services/opensearch/opensearch.ts'
import { type RunningService, runCommand, startService } from '../support/cli/command.ts'
import type { ListBody } from '../support/http/test-app.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { type Backend, createBackend, opensearch } from '../support/stores/backend.ts'

// Follows docker/recovery.md, on a snapshot repository of type `fs`.

let cluster: RunningOpenSearch
let backend: Backend
let service: RunningService
let key: string
let file: string
let prefix: string
beforeAll(async () => {
  cluster = await startOpenSearch({ nodes: 1, heapMb: 512 })
  vi.stubEnv('OPENSEARCH_URL', cluster.url)
  await opensearch('PUT', '_snapshot/backups', {
    type: 'fs',
    settings: { location: cluster.snapshots },
  })
}, FIRST_START_MS)
afterAll(async () => {
  vi.unstubAllEnvs()
  await cluster.stop()
})
beforeEach(async () => {
  backend = createBackend()
  backend.env['RATE_LIMIT_CAPACITY'] = '100000'
  backend.env['ORDERS_SHARDS'] = '3'
  ;({ INDEX_PREFIX: prefix = '' } = backend.env)
  file = join(backend.folder, 'orders.ndjson')
  await run('index', 'init')
  key = (await run('keys', 'create', '--account', 'acc_1')).stdout.trim()
  service = await startService([], backend.env)
})
afterEach(async () => {
  await service.stop('SIGKILL')
  await backend.remove()
})

const run = (...args: string[]) => runCommand(args, backend.env)
const check = () => run('index', 'check', file)
const ids = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `ord_${String(from + n).padStart(2, '0')}`)
const versions = (version: number, of: readonly string[]) =>
  of.map((id) => sourceOrder({ id, version, amount_total: version }))
const deletion = (id: string) => ({ id, version: 2, owner_account_id: 'acc_1', deleted: true })

async function load(orders: readonly object[], mode: string): Promise<object> {
  writeFileSync(file, orders.map((order) => `${JSON.stringify(order)}\n`).join(''))
  const { code, stdout, stderr } = await run('index', 'load', file, mode, '--json')
  if (code !== 0) throw new Error(stderr)
  await backend.refresh()
  return JSON.parse(stdout)
}

/** Takes one snapshot of all indices without a concurrent writer. */
async function takeSnapshot(name: string): Promise<void> {
  await opensearch('PUT', `_snapshot/backups/${name}?wait_for_completion=true`, {
    indices: `${prefix}*`,
    include_global_state: false,
  })
}

async function restore(name: string, indices: string): Promise<void> {
  await opensearch('DELETE', `${prefix}${indices}`)
  await opensearch('POST', `_snapshot/backups/${name}/_restore?wait_for_completion=true`, {
    indices: `${prefix}${indices}`,
    include_global_state: false,
  })
}

/** A sync run: the changes since the last date of the client. */
async function follow(since: string): Promise<Map<string, Order>> {
  const orders = new Map<string, Order>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = `sort=updated_at_asc&limit=5&updated_gte=${since}${cursor && `&cursor=${cursor}`}`
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${service.baseUrl}/v1/orders?${query}`, { headers })
    const page = (await response.json()) as ListBody
    for (const order of page.data) orders.set(order.id, order)
    cursor = page.next_cursor
  }
  return orders
}

/** The start date of the next sync run after a complete one. */
async function reached(): Promise<string> {
  const dates = [...(await follow('2000-01-01T00:00:00Z')).values()].map(({ updated_at }) =>
    Date.parse(updated_at ?? ''),
  )
  return new Date(Math.max(...dates) + 1).toISOString()
}

it('a repair after restoring the orders index alone restores later changes, for synced clients too', async () => {
  const all = ids(0, 20)
  await load(versions(1, all), '--history')
  await takeSnapshot('orders-alone')
  const [gone = '', ...others] = all
  const source = [
    deletion(gone),
    ...versions(2, others.slice(0, 9)),
    ...versions(1, others.slice(9)),
    ...versions(1, ids(20, 25)),
  ]
  await load(source, '--live')
  const since = await reached()

  await restore('orders-alone', 'orders-v1')
  expect(await load(source, '--history')).toMatchObject({ written: 0, older: 25 })
  expect((await check()).stdout).toMatch(/missing: 5, extra: 1, different: 9,/)

  expect(await load(source, '--repair')).toMatchObject({ written: 15, older: 10 })
  expect(await check()).toMatchObject({ code: 0 })
  const followed = await follow(since)
  expect([...followed.keys()].toSorted()).toEqual([...others.slice(0, 9), ...ids(20, 25)])
  expect(followed.get('ord_01')?.amount_total).toBe(2)
  expect(await load(source, '--repair')).toMatchObject({ written: 0, older: 25 })
})

it('a repeated load after restoring all indices writes newer versions', async () => {
  await load(versions(1, ids(0, 10)), '--history')
  await takeSnapshot('all')
  const source = [...versions(2, ids(0, 5)), ...versions(1, ids(5, 12))]
  await load(source, '--live')
  const since = await reached()

  for (const index of ['orders-v1', 'order-heads-v1']) await restore('all', index)
  expect(await load(source, '--repair')).toMatchObject({ written: 7, older: 5 })
  expect(await check()).toMatchObject({ code: 0 })
  expect([...(await follow(since)).keys()].toSorted()).toEqual([...ids(0, 5), ...ids(10, 12)])
})
