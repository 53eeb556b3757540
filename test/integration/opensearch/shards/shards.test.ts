import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { connectOpenSearch } from '../../../../src/stores/opensearch/client/client.ts'
import { indexNames } from '../../../../src/stores/opensearch/indices/index-names.ts'
import { scanVersionRecords } from '../../../../src/stores/opensearch/inspection/version-record-scan.ts'
import { startCommand } from '../../../support/cli/command.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { collect } from '../../../support/orders/collect.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { GENEROUS_MS } from '../../../support/stores/scripted/scripted-nodes.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { shardCounts, shardOf, storedDocuments, withoutCopies } from './stored-shards.ts'

const SHARDS = 3

/** Orders of many accounts, one for each; the amount identifies the version. */
const ordersOf = (count: number, version = 1) =>
  Array.from({ length: count }, (_, n) =>
    sourceOrder({
      id: `ord_${n}`,
      owner_account_id: `acc_${n}`,
      coproducer_account_ids: ['acc_shared'],
      version,
      amount_total: version,
    }),
  )

describe('an index with three shards', () => {
  const test = useServices({ ORDERS_SHARDS: `${SHARDS}` })

  it('init creates the indices of orders and version records with ORDERS_SHARDS, all others with one shard', async () => {
    await test.services.initialize()
    const { 'orders-v1': orders, 'order-heads-v1': records, ...others } = await shardCounts(test)
    expect([orders, records]).toEqual([SHARDS, SHARDS])
    expect(new Set(Object.values(others))).toEqual(new Set([1]))
  })

  it('each order is on the shard of its account, and every read finds it there', async () => {
    await test.write(ordersOf(30))
    await test.refresh()
    const documents = await storedDocuments(test, 'orders-v1')
    const expected = await Promise.all(
      [...documents.keys()].map((id) => shardOf(test, 'orders-v1', id.split(':')[0] ?? '')),
    )
    expect([...documents.values()].map(({ shard }) => shard)).toEqual(expected)
    expect(new Set(expected)).toEqual(new Set([0, 1, 2]))

    const keys = Array.from({ length: 30 }, (_, n) => ({
      accountId: `acc_${n}`,
      orderId: `ord_${n}`,
    }))
    const { orders } = test.services
    for (const { accountId, orderId } of keys) {
      expect(await orders.get(accountId, orderId), accountId).not.toBeNull()
      expect(await orders.latestWrite(accountId)).toMatchObject({ id: orderId })
    }
    const many = await orders.getMany(keys)
    expect(many.every((json) => json instanceof Uint8Array)).toBe(true)
  })

  it('the views of other shards are read while one shard has no copy', async () => {
    await test.write(ordersOf(30))
    const keys = Array.from({ length: 30 }, (_, n) => ({
      accountId: `acc_${n}`,
      orderId: `ord_${n}`,
    }))
    const shards = await Promise.all(
      keys.map(({ accountId }) => shardOf(test, 'orders-v1', accountId)),
    )
    expect(new Set(shards)).toEqual(new Set([0, 1, 2]))
    const expected = shards.map((shard) => (shard === 0 ? 'unreadable' : expect.any(Uint8Array)))
    const unreadable = keys.filter((_, at) => shards[at] === 0)
    const { orders } = test.services
    const missing = { index: 'orders-v1', shard: 0 }
    await withoutCopies(test, missing, async () => {
      expect(await orders.getMany(keys)).toEqual(expected)
    })
    await withoutCopies(test, missing, async () => {
      await expect(orders.getMany(unreadable)).rejects.toBeInstanceOf(Unavailable)
    })
  })

  it('a scan returns every version record once', async () => {
    await test.write(ordersOf(60))
    const urls = `${test.env['OPENSEARCH_URL']}`.split(',')
    const client = connectOpenSearch({ urls })
    const options = { client, names: indexNames(test.prefix), deadlineMs: GENEROUS_MS, pageSize: 4 }
    const records = await collect(scanVersionRecords(options)).finally(() => client.close())
    const ids = records.flat().map(({ orderId }) => orderId)
    expect(ids).toHaveLength(60)
    expect(new Set(ids).size).toBe(60)
  })

  it('the next writer reverts tombstones that a dead writer left on every shard of the new index', async () => {
    // Several pages of tombstones on each of three shards, and one page of a backfill.
    const owned = ordersOf(490).map((order) => ({ ...order, coproducer_account_ids: [] }))
    await test.write(owned)
    await test.beginReindex()
    // One write timestamp, and the same sequence numbers on each shard, over several search pages.
    await opensearch('POST', `${test.prefix}orders-v2/_update_by_query?refresh=true`, {
      script: {
        source: 'ctx._source.clear(); ctx._source.removed_key = params.stamp',
        params: { stamp: Date.now() },
      },
    })
    await test.write(sourceOrder({ id: 'ord_last' }))
    await test.refresh()
    const live = await storedDocuments(test, 'orders-v1')
    const target = await storedDocuments(test, 'orders-v2')
    expect(target.size).toBe(owned.length + 1)
    for (const [id, document] of target) expect(document, id).toEqual(live.get(id))
  })
})

describe('a running system with one shard', () => {
  const test = useServices()
  const written = async (source: object) => {
    const index = await test.services.openIndex()
    const results = await createWriter(index, Date.now).write([changeOf(source)], 'live')
    await index.close()
    return results
  }

  const records = (version: number) => `${test.prefix}order-heads-v${version}`
  /** As a writer of an earlier release does when it takes the lease over. */
  const forgetRecords = () =>
    opensearch('POST', `${test.prefix}writer/_update/orders`, {
      script: "ctx._source.remove('version_records'); ctx._source.remove('fed_version_records')",
    })

  it('index reindex --shards 3 moves orders and version records to three shards during a load', async () => {
    const load = startCommand(['index', 'load', '-', '--live'], test.env)
    const ended = once(load, 'close')
    const lines = (orders: readonly object[]) =>
      orders.map((order) => `${JSON.stringify(order)}\n`).join('')
    load.stdin.write(lines(ordersOf(1_200)))
    await expect.poll(() => test.services.orders.get('acc_0', 'ord_0')).not.toBeNull()

    const built = await test.run('reindex', '--shards', '3', '--json')
    expect(built).toMatchObject({ code: 0 })
    expect(JSON.parse(built.stdout)).toMatchObject({ shards: SHARDS })
    load.stdin.end(lines(ordersOf(600, 2)))
    await ended
    expect(load.exitCode).toBe(0)

    expect(await shardCounts(test)).toMatchObject({
      'orders-v1': 1,
      'orders-v2': SHARDS,
      'order-heads-v1': 1,
      'order-heads-v2': SHARDS,
    })
    await test.refresh()
    for (const [before, after] of [
      ['orders-v1', 'orders-v2'],
      ['order-heads-v1', 'order-heads-v2'],
    ] as const) {
      const [old, grown] = await Promise.all([
        storedDocuments(test, before),
        storedDocuments(test, after),
      ])
      expect(new Map([...grown].map(([id, { source }]) => [id, source]))).toEqual(
        new Map([...old].map(([id, { source }]) => [id, source])),
      )
      expect(new Set([...grown.values()].map(({ shard }) => shard))).toEqual(new Set([0, 1, 2]))
    }
    expect((await test.run('check')).code).toBe(0)
    expect(await written(sourceOrder({ id: 'ord_0', owner_account_id: 'acc_0' }))).toEqual([
      'older',
    ])

    const finished = await test.run('reindex', '--finish', '--json')
    expect(JSON.parse(finished.stdout).removed).toEqual([
      `${test.prefix}orders-v1`,
      `${test.prefix}order-heads-v1`,
    ])
    expect(await written(sourceOrder({ id: 'ord_new' }))).toEqual(['written'])
    expect((await test.run('check')).code).toBe(0)
  })

  it('a rollback returns to one shard with every later write', async () => {
    await test.write(ordersOf(50))
    await test.reindexing.build({ shards: SHARDS })
    await test.write(ordersOf(30, 2))
    expect(await test.reindexing.rollBack()).toEqual({
      live: `${test.prefix}orders-v1`,
      removed: [`${test.prefix}orders-v2`, `${test.prefix}order-heads-v2`],
    })
    expect(await written(ordersOf(1)[0] ?? {})).toEqual(['older'])
    expect((await test.run('check')).code).toBe(0)
  })

  it.each([
    ['', false],
    [', also when the new orders are lost', true],
  ])('a rollback copies a version record that only the new index has%s', async (_when, isLost) => {
    await test.write(ordersOf(30))
    await test.reindexing.build({ shards: SHARDS })
    await test.write(ordersOf(30, 3))
    // As after a bulk that reached the new index alone before a fence made it the first one.
    const older = { version: 1 }
    await opensearch('POST', `${test.prefix}order-heads-v1/_update/ord_7`, { doc: older })
    if (isLost) await opensearch('DELETE', `${test.prefix}orders-v2`)
    await test.reindexing.rollBack()
    expect(await written(ordersOf(8, 2)[7] ?? {})).toEqual(['older'])
    expect((await test.run('check')).code).toBe(0)
  })

  it('a rollback succeeds when the new index of version records is lost', async () => {
    await test.write(ordersOf(30))
    await test.reindexing.build({ shards: SHARDS })
    await opensearch('DELETE', records(2))
    expect(await test.reindexing.rollBack()).toMatchObject({ live: `${test.prefix}orders-v1` })
    expect(await written(ordersOf(1)[0] ?? {})).toEqual(['older'])
    expect((await test.run('check')).code).toBe(0)
  })

  it('finish copies a version record that only the previous index has', async () => {
    await test.write(ordersOf(30))
    await test.reindexing.build({ shards: SHARDS })
    await opensearch('DELETE', `${test.prefix}order-heads-v2/_doc/ord_7`)
    expect(await test.reindexing.finish()).toMatchObject({
      removed: [`${test.prefix}orders-v1`, `${test.prefix}order-heads-v1`],
    })
    expect(await written(ordersOf(8)[7] ?? {})).toEqual(['older'])
  })

  it('a reindex stops when a writer of an earlier release took over', async () => {
    await test.write(ordersOf(30))
    let forgotten: Promise<unknown> | undefined
    const onProgress = () => {
      forgotten ??= forgetRecords()
    }
    await expect(test.reindexing.build({ shards: SHARDS, onProgress })).rejects.toThrow(
      'another reindex changed the write targets',
    )
    await forgotten
  })

  it('finish succeeds when the previous index of version records is lost', async () => {
    await test.write(ordersOf(30))
    await test.reindexing.build({ shards: SHARDS })
    await opensearch('DELETE', records(1))
    expect(await test.reindexing.finish()).toMatchObject({ live: `${test.prefix}orders-v2` })
    expect(await written(ordersOf(1)[0] ?? {})).toEqual(['older'])
    expect((await test.run('check')).code).toBe(0)
  })

  it('a recovery continues with the index of version records that is left', async () => {
    await test.write(ordersOf(30))
    await test.reindexing.build({ shards: SHARDS })
    await test.reindexing.finish()
    await opensearch('DELETE', `${test.prefix}orders-v2,${records(2)}`)
    expect((await test.run('init', '--after-loss')).code).toBe(0)
    expect(await written(sourceOrder({ id: 'ord_new' }))).toEqual(['written'])
    expect((await test.run('check')).code).toBe(0)
  })

  it('a reindex without --shards keeps the number of shards and the index of version records', async () => {
    await test.write(ordersOf(5))
    await test.reindexing.build({ shards: SHARDS })
    await test.reindexing.finish()
    expect(await test.reindexing.build()).toMatchObject({ shards: SHARDS })
    expect(await test.reindexing.finish()).toEqual({
      live: `${test.prefix}orders-v3`,
      removed: [`${test.prefix}orders-v2`],
    })
    expect(await shardCounts(test)).toMatchObject({ 'orders-v3': SHARDS, 'order-heads-v2': SHARDS })
  })

  it('a document that is not routed by its account is readable after the reindex', async () => {
    await test.write(ordersOf(12))
    await test.refresh()
    const documents = await storedDocuments(test, 'orders-v1')
    const own = [...documents].filter(([id]) => !id.startsWith('acc_shared'))
    for (const [id, { source }] of own) {
      const account = id.split(':')[0]
      await opensearch('PUT', `${test.prefix}orders-v1/_doc/${id}?routing=${account}x`, source)
    }
    await test.refresh()
    await test.reindexing.build({ shards: SHARDS })
    for (let n = 0; n < 12; n++)
      expect(await test.services.orders.get(`acc_${n}`, `ord_${n}`), `acc_${n}`).not.toBeNull()
  })

  it.each(['0', '65', '2.5', 'many'])('index reindex --shards %s is rejected', async (shards) => {
    const { code, stderr } = await test.run('reindex', '--shards', shards)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('from 1 to 64') })
  })
})
