import { afterEach, beforeEach, expect, it } from 'vitest'
import { parseConfig } from '../../src/config.ts'
import { createWriter } from '../../src/indexing/writing/writer.ts'
import { openServices, type Services } from '../../src/services.ts'
import { type Backend, createBackend, opensearch } from '../support/backend.ts'
import { changeOf } from '../support/changes.ts'
import { runCommand } from '../support/command.ts'
import { sourceOrder } from '../support/source-order.ts'

let backend: Backend
let services: Services
beforeEach(async () => {
  backend = createBackend()
  services = await openServices(parseConfig(backend.env))
})
afterEach(async () => {
  await services.close()
  await backend.remove()
})

const owners = { id: 'ord_1', owner_account_id: 'acc_1' }
const first = sourceOrder({ ...owners, coproducer_account_ids: ['acc_2', 'acc_3'] })
const kept = sourceOrder({ id: 'ord_2', owner_account_id: 'acc_1' })
/** One co-producer leaves the order, then it is erased. */
const left = sourceOrder({ ...owners, version: 2, coproducer_account_ids: ['acc_3'] })
const erased = { ...owners, version: 3, deleted: true }

async function write(...sources: object[]) {
  const index = await services.openIndex()
  const writer = createWriter(index, Date.now)
  for (const source of sources) await writer.write([changeOf(source)], 'live')
  await index.close()
}

const run = (...args: string[]) => runCommand(['index', ...args], backend.env)

/** What is stored in an index, by id. */
async function stored(index: string): Promise<Record<string, object>> {
  const { hits } = await opensearch<{ hits: { hits: { _id: string; _source: object }[] } }>(
    'GET',
    `${backend.env['INDEX_PREFIX']}${index}/_search`,
  )
  return Object.fromEntries(hits.hits.map(({ _id, _source }) => [_id, _source]))
}

it('an order that is erased leaves ids and stamps alone, for every account that had it', async () => {
  await write(first, left, erased)
  const stamp = { removed_key: expect.any(Number) }
  expect(await stored('orders-v1')).toEqual({
    'acc_1:ord_1': stamp,
    'acc_2:ord_1': stamp,
    'acc_3:ord_1': stamp,
  })
})

it('a tombstone is shown to no account, and no fault of the index', async () => {
  await write(first, kept, left, erased)
  for (const account of ['acc_1', 'acc_2', 'acc_3']) {
    expect(await services.orders.get(account, 'ord_1')).toBeNull()
  }
  expect(await services.orders.latestWrite('acc_2')).toBeNull()
  expect(await run('check', '--json')).toMatchObject({ code: 0 })
  const { stdout } = await run('status', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ documents: 1, indices: [{ documents: 1 }] })
})

it('an index of tombstones alone is reindexed to one without any', async () => {
  await write(first, left, erased)
  expect(await run('reindex')).toMatchObject({ code: 0 })
  expect(await stored('orders-v2')).toEqual({})
  await write(kept)
  expect(await run('reindex', '--rollback')).toMatchObject({ code: 0 })
  expect(await run('check')).toMatchObject({ code: 0 })
})

it('an order that comes back takes the place of its tombstone', async () => {
  await write(first, left, erased, { ...first, version: 4 })
  expect(Object.values(await stored('orders-v1'))).toEqual(
    Array.from({ length: 3 }, () => expect.objectContaining({ id: 'ord_1' })),
  )
  expect(await run('check')).toMatchObject({ code: 0 })
})
