import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { load } from '../../src/indexing/sources/load.ts'
import { mapTransactions } from '../../src/indexing/writer/order-index.ts'
import type { OrderVersionRecord } from '../../src/indexing/writer/version-record.ts'
import { createWriter } from '../../src/indexing/writer/writer.ts'
import { noFilters } from '../../src/orders/filters/filters.ts'
import { readPage } from '../../src/orders/paging.ts'
import { changeOf } from '../support/orders/changes.ts'
import { readOrder } from '../support/orders/read-order.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { versionRecord } from '../support/orders/version-record.ts'
import { putVersionRecord } from '../support/stores/bulk.ts'
import { ndjson } from '../support/stores/services.ts'
import { type StoresUnderTest, useStores } from './stores-under-test.ts'

const NOW = Date.parse('2026-03-02T00:00:00Z')
const SHARED = sourceOrder({ coproducer_account_ids: ['acc_2'] })
/** Beyond the integers that a number represents. */
const HUGE = `${9n * 10n ** 18n}`
const RECORD = versionRecord()

describe.each(useStores())('index load --repair on %s', (_name, open) => {
  let store: StoresUnderTest
  beforeEach(async () => {
    store = await open()
    subscribers = new Set()
  })
  afterEach(() => store.close())

  let subscribers: ReadonlySet<string>
  async function write(orders: object[], equalVersions: 'drop' | 'repair' = 'repair') {
    const opened = await store.openIndex({ clock: () => NOW })
    const index = mapTransactions(opened, (transaction) => {
      return { ...transaction, subscribers: async () => subscribers }
    })
    const rejected: string[] = []
    const summary = await load(ndjson(orders), {
      writer: createWriter(index, () => NOW, { equalVersions }),
      mode: equalVersions === 'repair' ? 'live' : 'history',
      onRejected: (line, { reason }) => rejected.push(`${line} ${reason}`),
      onProgress() {},
    }).finally(() => index.close())
    await store.refresh()
    return { ...summary, rejections: rejected }
  }

  /** Writes a version record directly, and leaves the documents unchanged. */
  async function putRecord(record: OrderVersionRecord) {
    const index = await store.openIndex({ clock: () => NOW })
    await putVersionRecord(index, record)
    await index.close()
  }

  const read = (accountId: string) => readOrder(store.orders, 'ord_1', accountId)

  it.each<[string, (store: StoresUnderTest) => Promise<void>]>([
    ['is missing', ({ drop }) => drop('acc_1', 'ord_1')],
    ['is no valid order', ({ corrupt }) => corrupt('acc_1', 'ord_1')],
    ['has a wrong search status', ({ alter }) => alter('acc_1', 'ord_1', 'status', 'TRIAL')],
    ['has a wrong creation sort key', ({ alter }) => alter('acc_1', 'ord_1', 'created_key', 1)],
    ['has a wrong update sort key', ({ alter }) => alter('acc_1', 'ord_1', 'updated_key', 1)],
    ['has an update sort key of 9e18', ({ alter }) => alter('acc_1', 'ord_1', 'updated_key', HUGE)],
    ['has a write timestamp of 9e18', ({ alter }) => alter('acc_1', 'ord_1', 'written_key', HUGE)],
  ])('restores a document that %s, and stamps it as updated now', async (_how, damage) => {
    const others = ['ord_2', 'ord_3'].map((id) => sourceOrder({ id }))
    await write([SHARED, ...others], 'drop')
    await damage(store)
    await store.refresh()
    expect(await write([SHARED, ...others], 'drop')).toMatchObject({ written: 0, older: 3 })
    expect(await write([SHARED, ...others])).toMatchObject({ written: 1, older: 2 })
    expect(await write([SHARED, ...others])).toMatchObject({ written: 0, older: 3 })

    const page = await readPage(
      store.orders,
      {
        accountId: 'acc_1',
        sort: 'updated_at_asc',
        filters: { ...noFilters, statuses: ['PAID'], updated: { gte: NOW } },
      },
      null,
      10,
    )
    expect(page.rows.map(({ id }) => id)).toEqual(['ord_1'])
    expect(await read('acc_2')).toMatchObject({ updated_at: '2026-03-01T12:05:00.000Z' })
  })

  it('mends an order that an earlier release stored with half of an emoji', async () => {
    const cut = sourceOrder({ customer: { name: 'Ana \ud83d', email: 'ana@x.com' } })
    const [view] = changeOf(cut).views
    if (view === undefined) throw new Error('an order has an owner')
    const order = { ...view.order, customer: { ...view.order.customer, name: 'Ana \ud83d' } }
    const index = await store.openIndex({ clock: () => NOW })
    await createWriter(index, () => NOW).write(
      [{ ...changeOf(cut), views: [{ ...view, order }] }],
      'history',
    )
    await index.close()
    await store.refresh()
    expect((await read('acc_1'))?.customer.name).toBe('Ana \ud83d')

    expect(await write([cut])).toMatchObject({ written: 1 })
    expect((await read('acc_1'))?.customer.name).toBe('Ana \ufffd')
    expect(await write([cut])).toMatchObject({ written: 0, older: 1 })
  })

  it.each<[string, object | undefined]>([
    ['is cut off', undefined],
    ['has no payment', { id: 'ord_1', tracking: null }],
    ['has another value as its payment', { id: 'ord_1', payment: null }],
  ])(
    'rejects a newer version of an order whose document %s, and continues',
    async (_how, order) => {
      await write([SHARED], 'drop')
      await store.corrupt('acc_1', 'ord_1', order)
      subscribers = new Set(['acc_1', 'acc_2'])
      const newer = [{ ...SHARED, version: 2, amount_total: 1 }, sourceOrder({ id: 'ord_2' })]
      const { rejections, ...counts } = await write(newer, 'drop')
      expect(counts).toMatchObject({ written: 1, refused: 1 })
      expect(rejections).toEqual([expect.stringContaining('replace it with "index load --repair"')])
      expect(await write(newer)).toMatchObject({ written: 1, older: 1, rejections: [] })
      expect(await read('acc_1')).toMatchObject({ amount_total: 1 })
    },
  )

  it('removes the document of an account without a version record', async () => {
    await write([SHARED], 'drop')
    await putRecord(RECORD)
    expect(await write([sourceOrder()])).toMatchObject({ written: 1 })
    expect([await read('acc_1'), await read('acc_2')]).toMatchObject([{ id: 'ord_1' }, null])
  })

  it('removes leftover documents of a deleted order', async () => {
    await write([SHARED], 'drop')
    await putRecord({ ...RECORD, version: 2, accountIds: [], deleted: true })
    const deletion = { id: 'ord_1', version: 2, owner_account_id: 'acc_1', deleted: true }
    expect(await write([deletion], 'drop')).toMatchObject({ older: 1 })
    expect(await write([deletion])).toMatchObject({ written: 1 })
    expect([await read('acc_1'), await read('acc_2')]).toEqual([null, null])
    expect(await write([deletion])).toMatchObject({ older: 1 })
  })

  it('writes live, with the write lease that later writers check', async () => {
    const wasStampedLive = async () => {
      const index = await store.openIndex({ clock: () => NOW })
      const result = index.hasLiveWrites()
      await index.close()
      return result
    }
    await write([SHARED], 'drop')
    await write([{ ...SHARED, version: 2, amount_total: 1 }], 'drop')
    const before = await wasStampedLive()
    await store.drop('acc_1', 'ord_1')
    await write([{ ...SHARED, version: 2, amount_total: 1 }])
    expect([before, await wasStampedLive()]).toEqual([false, true])
  })
})
