import { expect, it } from 'vitest'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { connectOpenSearch } from '../../../../src/stores/opensearch/client/client.ts'
import { indexNames } from '../../../../src/stores/opensearch/indices/index-names.ts'
import { readMaxWriteTimestamp } from '../../../../src/stores/opensearch/write/lease/write-timestamps.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { GENEROUS_MS } from '../../../support/stores/scripted/scripted-nodes.ts'
import { useServices } from '../../../support/stores/use-services.ts'

const test = useServices()

const owners = { id: 'ord_1', owner_account_id: 'acc_1' }
const first = sourceOrder({ ...owners, coproducer_account_ids: ['acc_2', 'acc_3'] })
const kept = sourceOrder({ id: 'ord_2', owner_account_id: 'acc_1' })
/** One co-producer leaves the order, then the order is erased. */
const left = sourceOrder({ ...owners, version: 2, coproducer_account_ids: ['acc_3'] })
const erased = { ...owners, version: 3, deleted: true }

/** Writes sources in sequence, and those of an array in one batch. */
async function write(...sources: (object | object[])[]) {
  const index = await test.services.openIndex()
  const writer = createWriter(index, Date.now)
  for (const source of sources) await writer.write([source].flat().map(changeOf), 'live')
  await index.close()
}

/** The stored documents of an index by id. */
async function stored(index: string): Promise<Record<string, object>> {
  const { hits } = await opensearch<{ hits: { hits: { _id: string; _source: object }[] } }>(
    'GET',
    `${test.prefix}${index}/_search?size=1000`,
  )
  return Object.fromEntries(hits.hits.map(({ _id, _source }) => [_id, _source]))
}

it('an erased order leaves only ids and write timestamps, for every account that had it', async () => {
  await write(first, left, erased)
  const tombstone = { removed_key: expect.any(Number) }
  expect(await stored('orders-v1')).toEqual({
    'acc_1:ord_1': tombstone,
    'acc_2:ord_1': tombstone,
    'acc_3:ord_1': tombstone,
  })
})

it('the API returns no tombstone, and the check accepts it', async () => {
  await write(first, kept, left, erased)
  for (const account of ['acc_1', 'acc_2', 'acc_3']) {
    expect(await test.services.orders.get(account, 'ord_1')).toBeNull()
  }
  expect(await test.services.orders.latestWrite('acc_2')).toBeNull()
  expect(await test.run('check', '--json')).toMatchObject({ code: 0 })
  const { stdout } = await test.run('status', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ documents: 1, indices: [{ documents: 1 }] })
})

it('a reindex drops tombstones', async () => {
  await write(first, left, erased)
  expect(await test.run('reindex')).toMatchObject({ code: 0 })
  expect(await stored('orders-v2')).toEqual({})
  await write(kept)
  expect(await test.run('reindex', '--rollback')).toMatchObject({ code: 0 })
  expect(await test.run('check')).toMatchObject({ code: 0 })
})

it('a recreated order replaces its tombstone', async () => {
  await write(first, left, erased, { ...first, version: 4 })
  expect(Object.values(await stored('orders-v1'))).toEqual(
    Array.from({ length: 3 }, () => expect.objectContaining({ id: 'ord_1' })),
  )
  expect(await test.run('check')).toMatchObject({ code: 0 })
})

it('the next writer reverts tombstones of a partial bulk in the new index', async () => {
  // More than one search page of removals with equal write timestamps.
  const many = Array.from({ length: 250 }, (_, n) => sourceOrder({ id: `ord_${n + 10}` }))
  await write([...many, first, kept])
  const stop = new AbortController()
  const build = test.reindexing.build({ onProgress: () => stop.abort(), signal: stop.signal })
  await expect(build).rejects.toThrow()
  await write(left, erased)
  const removed = {
    query: {
      bool: { must_not: [{ term: { id: 'ord_2' } }, { exists: { field: 'removed_key' } }] },
    },
    script: {
      source: 'ctx._source.clear(); ctx._source.removed_key = params.removedAt',
      params: { removedAt: Date.now() },
    },
  }
  await test.refresh()
  const fed = `${test.prefix}orders-v2`
  expect(await opensearch('POST', `${fed}/_update_by_query?refresh=true`, removed)).toMatchObject({
    updated: many.length,
  })

  await write()
  await test.refresh()
  const read = await stored('orders-v1')
  expect(Object.keys(read)).toHaveLength(many.length + 4)
  expect(await stored('orders-v2')).toEqual(read)
  expect(await test.reindexing.build()).toMatchObject({ documents: many.length + 1 })
})

it('the greatest write timestamp of an index includes those of tombstones', async () => {
  await write(kept, first, left, erased)
  const { 'acc_1:ord_1': tombstone } = await stored('orders-v1')
  const urls = `${test.env['OPENSEARCH_URL']}`.split(',')
  const client = connectOpenSearch({ urls })
  const names = indexNames(`${test.prefix}`)
  const greatest = await readMaxWriteTimestamp(client, names, GENEROUS_MS).finally(() =>
    client.close(),
  )
  expect({ removed_key: greatest }).toEqual(tombstone)
})
