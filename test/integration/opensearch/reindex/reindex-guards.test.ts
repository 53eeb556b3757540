import { expect, it } from 'vitest'
import { createWriter, type Writer } from '../../../../src/indexing/writer/writer.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { readDocuments, readTargets } from './stored-state.ts'

const test = useServices({ BULK_DEADLINE_MS: '10000' })

const write = (writer: Writer, ...ids: string[]) =>
  writer.write(
    ids.map((id) => changeOf(sourceOrder({ id }))),
    'live',
  )

const erased = (id: string) => ({ id, version: 2, owner_account_id: 'acc_1', deleted: true })

const documents = (index: string) => readDocuments(test, index)
const targets = () => readTargets(test)
const feedsTwo = () => expect.poll(targets, { interval: 10 }).toHaveLength(2)

it('a reindex removes only its own index, whatever the names of others', async () => {
  await test.services.initialize()
  const others = ['orders-visits', 'orders-v1-backup'].map((name) => `${test.prefix}${name}`)
  for (const other of others) await opensearch('PUT', other)
  await test.reindexing.build()
  await test.reindexing.finish()
  const there = await opensearch<object>('GET', `${test.prefix}orders*`)
  expect(Object.keys(there).toSorted((one, other) => (one < other ? -1 : 1))).toEqual([
    `${test.prefix}orders-v1-backup`,
    `${test.prefix}orders-v2`,
    `${test.prefix}orders-visits`,
  ])
})

it('a resumed reindex waits until the writer writes to the new index', async () => {
  const index = await test.services.openIndex({ purpose: 'watch' })
  const writer = createWriter(index, Date.now)
  await write(writer, 'ord_0')
  const stop = new AbortController()
  const first = test.reindexing.build({ signal: stop.signal })
  await feedsTwo()
  stop.abort()
  await expect(first).rejects.toThrow()

  let isBuilt = false
  const built = test.reindexing.build().finally(() => {
    isBuilt = true
  })
  for (let n = 1; !isBuilt; n++) await write(writer, `ord_${n}`)
  await built
  await index.close()
  expect(await documents('orders')).toEqual(await documents('orders-v1'))
})

it('a reindex whose new index gets no node ends, and no writer writes to that index', async () => {
  await test.write(sourceOrder({ id: 'ord_0' }))
  const path = `_index_template/${test.prefix}orders`
  const { index_templates: [first] = [] } = await opensearch<{
    index_templates: { index_template: { template: { settings: { index: object } } } }[]
  }>('GET', path)
  if (first === undefined) throw new Error('expected the template of the orders')
  const { index_template: definition } = first
  Object.assign(definition.template.settings.index, {
    'routing.allocation.require._name': 'no-such-node',
  })
  await opensearch('PUT', path, definition)

  await expect(test.reindexing.build()).rejects.toThrow(
    `has not started every primary shard of ${test.prefix}orders-v2`,
  )
  expect(await targets()).toEqual([`${test.prefix}orders-v1`])
  await test.write(sourceOrder({ id: 'ord_1' }))
  expect(await test.reindexing.rollBack()).toMatchObject({ removed: [`${test.prefix}orders-v2`] })
})

it('finish ends a switch that was interrupted before it removed the alias for copies', async () => {
  await test.services.initialize()
  await test.reindexing.build()
  const alias = `${test.prefix}orders-copy-v2`
  await opensearch('PUT', `${test.prefix}orders-v2/_alias/${alias}`)
  await test.reindexing.finish()
  const { [`${test.prefix}orders-v2`]: live } = await opensearch<Record<string, object>>(
    'GET',
    `${test.prefix}orders-v2/_alias`,
  )
  expect(JSON.stringify(live)).not.toContain(alias)
})

it('the next writer reverts a partial bulk in the new index', async () => {
  const first = await test.services.openIndex()
  await write(createWriter(first, Date.now), 'ord_1', 'ord_2')
  await first.close()
  await test.beginReindex()
  const { written_key: writeTimestamp, ...rest } =
    (await documents('orders-v1')).get('acc_1:ord_1') ?? {}
  const later = { ...rest, written_key: Number(writeTimestamp) + 1 }
  for (const id of ['acc_1:ord_1', 'acc_1:ord_9']) {
    const version = `version_type=external&version=${later.written_key}`
    await opensearch('PUT', `${test.prefix}orders-v2/_doc/${id}?routing=acc_1&${version}`, {
      ...later,
      id: id.slice('acc_1:'.length),
    })
  }

  await (await test.services.openIndex()).close()
  expect((await documents('orders-v2')).get('acc_1:ord_1')?.written_key).toBe(writeTimestamp)
  expect([...(await documents('orders-v2')).keys()]).not.toContain('acc_1:ord_9')
})

it('the reindex waits for the next writer to restore a removal in the new index', async () => {
  const first = await test.services.openIndex()
  await write(createWriter(first, Date.now), 'ord_1', 'ord_2')
  await first.close()
  await test.beginReindex()
  const writeTimestamp = (await documents('orders-v1')).get('acc_1:ord_1')?.written_key ?? 0
  const version = `version_type=external&version=${writeTimestamp + 1}`
  await opensearch('DELETE', `${test.prefix}orders-v2/_doc/acc_1:ord_1?routing=acc_1&${version}`)

  let progressReports = 0
  const built = test.reindexing.build({ onProgress: () => (progressReports += 1) })
  await expect.poll(() => progressReports, { timeout: 60_000 }).toBeGreaterThan(3)
  const next = await test.services.openIndex()
  await createWriter(next, Date.now).write([changeOf(erased('ord_1'))], 'live')
  await next.close()
  await built
  expect([...(await documents('orders')).keys()]).toEqual(['acc_1:ord_2'])
  expect(await documents('orders')).toEqual(await documents('orders-v1'))
})

it('two concurrent reindexes leave every order in the live index', async () => {
  const index = await test.services.openIndex({ purpose: 'watch' })
  const writer = createWriter(index, Date.now)
  await write(writer, 'ord_0')
  let isDone = false
  const both = Promise.allSettled([test.reindexing.build(), test.reindexing.build()]).finally(
    () => {
      isDone = true
    },
  )
  let written = 1
  for (; !isDone; written++) await write(writer, `ord_${written}`)
  const outcomes = await both
  expect(outcomes.map(({ status }) => status)).toContain('fulfilled')

  await write(writer, 'ord_last')
  await index.close()
  const read = await documents('orders')
  expect(read.size).toBe(written + 1)
  for (const target of await targets()) {
    expect(await documents(target.slice(test.prefix.length))).toEqual(read)
  }
})

it('finish is rejected during a reindex and removes nothing', async () => {
  const index = await test.services.openIndex({ purpose: 'watch' })
  const writer = createWriter(index, Date.now)
  await write(writer, 'ord_0')
  let isBuilt = false
  const built = test.reindexing.build().finally(() => {
    isBuilt = true
  })
  await feedsTwo()
  await expect(test.reindexing.finish()).rejects.toThrow('is incomplete')
  for (let n = 1; !isBuilt; n++) await write(writer, `ord_${n}`)
  expect(await built).toMatchObject({ live: `${test.prefix}orders-v2` })
  await index.close()
  expect(await documents('orders')).toEqual(await documents('orders-v1'))
})

it('an order erased during a reindex is in neither index', async () => {
  const index = await test.services.openIndex({ purpose: 'watch' })
  const writer = createWriter(index, Date.now)
  const ids = Array.from({ length: 3_000 }, (_, n) => `ord_${n}`)
  await write(writer, ...ids)
  let isBuilt = false
  const built = test.reindexing.build().finally(() => {
    isBuilt = true
  })
  await feedsTwo() // The backfill starts here.
  const gone: string[] = []
  while (!isBuilt) {
    const id = ids.at(gone.length)
    if (id === undefined) break
    await writer.write([changeOf(erased(id))], 'live')
    gone.push(id)
  }
  await built
  expect(gone.length).toBeGreaterThan(0)
  // A change in flight during the erasure arrives late.
  await write(writer, ...gone)
  await index.close()

  const left = ids.slice(gone.length).map((id) => `acc_1:${id}`)
  for (const version of ['orders-v1', 'orders-v2']) {
    expect(new Set((await documents(version)).keys())).toEqual(new Set(left))
  }
})
