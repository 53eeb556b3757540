import { describe, expect, it } from 'vitest'
import { createWriter, type Writer } from '../../../../src/indexing/writer/writer.ts'
import { startInProcess } from '../../../support/cli/command.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { readDocuments, readTargets } from './stored-state.ts'

// A long lease keeps the writer from reading its record during other steps.
const test = useServices({ WRITER_LEASE_MS: '20000' })

const name = (index: string) => `${test.prefix}${index}`
const write = (writer: Writer, id: string) => writer.write([changeOf(sourceOrder({ id }))], 'live')

/** The versions of the orders index and of the version records, and all that begin alike. */
async function indices(): Promise<string[]> {
  const patterns = ['orders*', 'order-heads*'].map(name).join(',')
  const found = Object.keys(await opensearch<object>('GET', patterns))
  return found
    .map((index) => index.slice(test.prefix.length))
    .toSorted((one, other) => (one < other ? -1 : 1))
}

/** Creates indices as an interrupted `finish` leaves them: without an alias. */
async function leave(...left: string[]): Promise<void> {
  for (const index of left) await opensearch('PUT', name(index))
}

async function reindexAndFinish(shards?: number): Promise<void> {
  await test.reindexing.build(shards === undefined ? {} : { shards })
  await test.reindexing.finish()
}

describe('finish after an interruption', () => {
  it('a repeated finish removes what an interrupted one left, once the writer ignores it', async () => {
    const before = await test.services.openIndex()
    await write(createWriter(before, Date.now), 'ord_0')
    await before.close()
    await test.reindexing.build({ shards: 2 })
    const index = await test.services.openIndex({ purpose: 'watch' })
    const writer = createWriter(index, Date.now)
    await write(writer, 'ord_1')

    const command = startInProcess(['index', 'reindex', '--finish'], test.env)
    await expect.poll(() => readTargets(test)).toEqual([name('orders-v2')])
    command.sendSignal('SIGINT')
    const interrupted = await command.finished
    expect(interrupted).toMatchObject({ code: 1, stdout: '' })
    expect(interrupted.stderr).toContain('interrupted: "index reindex --finish" continues it')
    expect(await indices()).toEqual(['order-heads-v1', 'order-heads-v2', 'orders-v1', 'orders-v2'])

    // The writer still sends to both until it has applied the request.
    let isFinished = false
    const finished = test.reindexing.finish().finally(() => {
      isFinished = true
    })
    let written = 2
    for (; !isFinished; written++) await write(writer, `ord_${written}`)
    expect(await finished).toEqual({
      live: name('orders-v2'),
      removed: ['orders-v1', 'order-heads-v1'].map(name),
    })
    await write(writer, 'ord_last')
    await index.close()
    expect(await indices()).toEqual(['order-heads-v2', 'orders-v2'])
    expect((await readDocuments(test, 'orders')).size).toBe(written + 1)
    expect(await test.reindexing.finish()).toEqual({ live: name('orders-v2'), removed: [] })
  })

  it('the finish of the next reindex removes older versions too', async () => {
    await test.services.initialize()
    await reindexAndFinish()
    await leave('orders-v1')
    await test.reindexing.build()
    expect(await test.reindexing.finish()).toEqual({
      live: name('orders-v3'),
      removed: ['orders-v2', 'orders-v1'].map(name),
    })
    expect(await indices()).toEqual(['order-heads-v1', 'orders-v3'])
  })

  it('finish keeps newer versions, versions with an alias and indices that only begin alike', async () => {
    await test.services.initialize()
    for (const shards of [2, 1]) await reindexAndFinish(shards)
    const kept = [
      'order-heads-v1-backup',
      'order-heads-v2',
      'order-heads-v4',
      'orders-v0',
      'orders-v01',
      'orders-v1-backup',
      'orders-v2',
      'orders-v4',
      'orders-visits',
    ]
    await leave('orders-v1', 'order-heads-v1', ...kept)
    for (const aliased of ['orders-v2', 'order-heads-v2'])
      await opensearch('PUT', `${name(aliased)}/_alias/${name(`kept-${aliased}`)}`)
    expect(await test.reindexing.finish()).toEqual({
      live: name('orders-v3'),
      removed: ['orders-v1', 'order-heads-v1'].map(name),
    })
    expect(await indices()).toEqual(
      [...kept, 'orders-v3', 'order-heads-v3'].toSorted((one, other) => (one < other ? -1 : 1)),
    )
  })

  it('finish does not verify the live index when an operator keeps every older version', async () => {
    await test.services.initialize()
    await reindexAndFinish(2)
    await test.write(sourceOrder({}))
    for (const kept of ['orders-v1', 'order-heads-v1']) {
      await leave(kept)
      await opensearch('PUT', `${name(kept)}/_alias/${name(`kept-${kept}`)}`)
    }
    const [[id, document] = expect.fail()] = await readDocuments(test, 'orders-v2')
    const damaged = { ...document, order: { ...document.order, amount_total: -1 } }
    await opensearch('PUT', `${name('orders-v2')}/_doc/${id}?routing=acc_1&refresh`, damaged)
    expect(await test.reindexing.finish()).toEqual({ live: name('orders-v2'), removed: [] })
  })

  it('finish removes nothing and moves no alias when the lease names another live index', async () => {
    await test.services.initialize()
    await reindexAndFinish()
    await leave('orders-v1')
    const alias = name('orders')
    const actions = [
      { remove: { index: name('orders-v2'), alias } },
      { add: { index: name('orders-v1'), alias } },
    ]
    await opensearch('POST', '_aliases', { actions })
    await expect(test.reindexing.finish()).rejects.toThrow(
      /orders-v1 is read, .*orders-v2 live: nothing was removed/,
    )
    expect(await indices()).toEqual(['order-heads-v1', 'orders-v1', 'orders-v2'])
    expect(Object.keys(await opensearch<object>('GET', `_alias/${alias}`))).toEqual([
      name('orders-v1'),
    ])
  })
})

it('a rollback that was interrupted before its fence continues once a writer has applied it', async () => {
  await test.services.initialize()
  await test.write(sourceOrder({ id: 'ord_0' }))
  await test.reindexing.build({ shards: 2 })
  const path = `${name('writer')}/_doc/orders`
  const { _source: lease } = await opensearch<{ _source: object }>('GET', path)
  const requested = {
    ...lease,
    targets: [name('orders-v1')],
    version_records: [name('order-heads-v1')],
  }
  await opensearch('PUT', path, requested)
  // A lease that was restored from before a finished reindex looks the same.
  const isRefused = /orders-v2 is read, .*orders-v1 live: nothing was removed/
  await expect(test.reindexing.finish()).rejects.toThrow(isRefused)
  await expect(test.reindexing.rollBack()).rejects.toThrow(isRefused)
  await test.write(sourceOrder({ id: 'ord_1' }))
  expect(await test.reindexing.rollBack()).toEqual({
    live: name('orders-v1'),
    removed: ['orders-v2', 'order-heads-v2'].map(name),
  })
  expect(await indices()).toEqual(['order-heads-v1', 'orders-v1'])
  expect((await readDocuments(test, 'orders')).size).toBe(2)
})
