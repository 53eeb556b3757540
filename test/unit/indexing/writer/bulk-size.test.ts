import { expect, it } from 'vitest'
import type { SourceOrder } from '../../../../src/indexing/projection/source-order.ts'
import { mapTransactions } from '../../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { NOW } from '../../../support/orders/order-writer.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { createMemoryOrderIndex } from '../../../support/stores/memory-order-index.ts'

const coproducers = (count: number) => Array.from({ length: count }, (_, n) => `acc_co_${n}`)
const idOf = (n: number) => `ord_${n}`

/** A writer that records the numbers of documents read and written by each bulk. */
function startRecordingWriter() {
  const index = createMemoryOrderIndex()
  const bulks: { read: number; written: number }[] = []
  const recorded = mapTransactions(index, (transaction) => {
    let read = 0
    return {
      ...transaction,
      views(keys) {
        read += keys.length
        return transaction.views(keys)
      },
      commit(writes, mode) {
        bulks.push({ read, written: writes.views.length + writes.removals.length })
        return transaction.commit(writes, mode)
      },
    }
  })
  const { write } = createWriter(recorded, () => NOW)
  return {
    index,
    async write(orders: readonly object[]) {
      const from = bulks.length
      const results = await write(orders.map(changeOf), 'live')
      return { results, bulks: bulks.slice(from) }
    },
  }
}

it.each<[name: string, order: Partial<SourceOrder>, bulks: number[]]>([
  ['1,000 orders of three accounts', { coproducer_account_ids: coproducers(2) }, [1_000]],
  ['100 orders of 101 accounts', { coproducer_account_ids: coproducers(100) }, [40, 40, 20]],
  [
    'seven orders of 101 accounts and 100 kB',
    { coproducer_account_ids: coproducers(100), tracking: { src: 'x'.repeat(100_000) } },
    [3, 3, 1],
  ],
])('the writer reads and writes %s in bulks of at most 32 MB', async (_name, order, bulks) => {
  const { index, write } = startRecordingWriter()
  const count = bulks.reduce((sum, orders) => sum + orders)
  const accounts = 1 + (order.coproducer_account_ids?.length ?? 0)
  const writeVersion = (version: number, change: object) =>
    write(
      Array.from({ length: count }, (_, n) =>
        sourceOrder({ ...order, id: idOf(n), version, ...change }),
      ),
    )
  const documents = bulks.map((orders) => orders * accounts)
  const results = Array(count).fill('written')

  expect(await writeVersion(1, {})).toEqual({
    results,
    bulks: documents.map((written) => ({ read: 0, written })),
  })
  expect(await writeVersion(2, { status: 'REFUNDED' })).toEqual({
    results,
    bulks: documents.map((all) => ({ read: all, written: all })),
  })
  // The stored documents count, also where a version has fewer.
  const last = await writeVersion(3, { status: 'REFUNDED', coproducer_account_ids: [] })
  expect(last.results).toEqual(results)
  expect(last.bulks.map(({ read }) => read)).toEqual(documents)
  expect(index.keys()).toHaveLength(count)
})

it('the writer reads the documents of 100 erased orders of 101 accounts in several bulks', async () => {
  const { index, write } = startRecordingWriter()
  const orders = Array.from({ length: 100 }, (_, n) =>
    sourceOrder({ id: idOf(n), coproducer_account_ids: coproducers(100) }),
  )
  await write(orders)
  const erased = orders.map(({ id }) => ({
    ...{ id, version: 2, owner_account_id: 'acc_1', deleted: true },
  }))
  const { results, bulks } = await write(erased)
  expect(results).toEqual(Array(100).fill('written'))
  expect(bulks.map(({ read }) => read)).toEqual(Array(20).fill(5 * 101))
  expect(index.keys()).toEqual([])
})

it('the writer erases 500 orders of one account in one bulk', async () => {
  const { write } = startRecordingWriter()
  const ids = Array.from({ length: 500 }, (_, n) => idOf(n))
  await write(ids.map((id) => sourceOrder({ id })))
  const { bulks } = await write(
    ids.map((id) => ({ id, version: 2, owner_account_id: 'acc_1', deleted: true })),
  )
  expect(bulks.map(({ read }) => read)).toEqual([500])
})

it('the writer keeps the results of rejected changes among several bulks', async () => {
  const { write } = startRecordingWriter()
  const orders = (version: number, owner: (n: number) => string) =>
    Array.from({ length: 100 }, (_, n) => ({
      ...sourceOrder({ id: idOf(n), version, coproducer_account_ids: coproducers(100) }),
      owner_account_id: owner(n),
    }))
  await write(orders(1, () => 'acc_1'))
  const isRejected = (n: number) => n % 30 === 0
  const { results } = await write(orders(2, (n) => (isRejected(n) ? 'acc_9' : 'acc_1')))
  expect(results.map((result) => typeof result === 'object')).toEqual(
    Array.from({ length: 100 }, (_, n) => isRejected(n)),
  )
})
