import { afterEach, beforeEach, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { openServices, type Services } from '../../../../src/services.ts'
import { connectOpenSearch } from '../../../../src/stores/opensearch/client/client.ts'
import { indexNames } from '../../../../src/stores/opensearch/index-names.ts'
import { readMaxWriteTimestamp } from '../../../../src/stores/opensearch/write/write-timestamps.ts'
import { runCommand } from '../../../support/cli/command.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { type Backend, createBackend, opensearch } from '../../../support/stores/backend.ts'
import { GENEROUS_MS } from '../scripted/scripted-nodes.ts'

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

/** Writes sources one after the other; those of an array at once. */
async function write(...sources: (object | object[])[]) {
  const index = await services.openIndex()
  const writer = createWriter(index, Date.now)
  for (const source of sources) await writer.write([source].flat().map(changeOf), 'live')
  await index.close()
}

const run = (...args: string[]) => runCommand(['index', ...args], backend.env)

/** What is stored in an index, by id. */
async function stored(index: string): Promise<Record<string, object>> {
  const { hits } = await opensearch<{ hits: { hits: { _id: string; _source: object }[] } }>(
    'GET',
    `${backend.env['INDEX_PREFIX']}${index}/_search?size=1000`,
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

it('tombstones that half a bulk left in the new index alone are taken back by the next writer', async () => {
  // More than a page of a search, whose removals all have one stamp.
  const many = Array.from({ length: 250 }, (_, n) => sourceOrder({ id: `ord_${n + 10}` }))
  await write([...many, first, kept])
  const stop = new AbortController()
  const begun = services.reindexing?.build({ onProgress: () => stop.abort(), signal: stop.signal })
  await expect(begun).rejects.toThrow()
  await write(left, erased)
  const removed = {
    query: {
      bool: { must_not: [{ term: { id: 'ord_2' } }, { exists: { field: 'removed_key' } }] },
    },
    script: {
      source: 'ctx._source.clear(); ctx._source.removed_key = params.stamp',
      params: { stamp: Date.now() },
    },
  }
  await backend.refresh()
  const fed = `${backend.env['INDEX_PREFIX']}orders-v2`
  expect(await opensearch('POST', `${fed}/_update_by_query?refresh=true`, removed)).toMatchObject({
    updated: many.length,
  })

  await write()
  await backend.refresh()
  const read = await stored('orders-v1')
  expect(Object.keys(read)).toHaveLength(many.length + 4)
  expect(await stored('orders-v2')).toEqual(read)
  expect(await services.reindexing?.build()).toMatchObject({ documents: many.length + 1 })
})

it('the greatest stamp of an index is also found where it is that of a tombstone', async () => {
  await write(kept, first, left, erased)
  const { 'acc_1:ord_1': tombstone } = await stored('orders-v1')
  const urls = `${backend.env['OPENSEARCH_URL']}`.split(',')
  const client = connectOpenSearch({ urls })
  const names = indexNames(`${backend.env['INDEX_PREFIX']}`)
  const greatest = await readMaxWriteTimestamp(client, names, GENEROUS_MS).finally(() =>
    client.close(),
  )
  expect({ removed_key: greatest }).toEqual(tombstone)
})
