import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CheckReport, checkIndex } from '../../src/indexing/consistency-check/check-index.ts'
import { entriesFromLines } from '../../src/indexing/consistency-check/source-entries.ts'
import { load } from '../../src/indexing/sources/load.ts'
import type { OrderVersionRecord } from '../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../src/indexing/writer/writer.ts'
import { changeOf } from '../support/orders/changes.ts'
import { sourceOrder, sourcePayment } from '../support/orders/source-order.ts'
import { putVersionRecord } from '../support/stores/bulk.ts'
import { ndjson } from '../support/stores/services.ts'
import { type StoresUnderTest, stores } from './stores-under-test.ts'

const NOW = Date.parse('2026-05-01T00:00:00Z')
const DELETION = { id: 'ord_1', version: 2, owner_account_id: 'acc_1', deleted: true }
const SHARED = sourceOrder({ coproducer_account_ids: ['acc_2'] })
/** Of the first version of an order of acc_1 that acc_2 takes part in. */
const RECORD: OrderVersionRecord = {
  orderId: 'ord_1',
  version: 1,
  ownerAccountId: 'acc_1',
  accountIds: ['acc_1', 'acc_2'],
  createdKey: Date.parse(SHARED.created_at),
  hasUpdatedAt: true,
  deleted: false,
}

describe.each(stores)('%s', (_name, open) => {
  let store: StoresUnderTest
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  async function write(...orders: object[]) {
    const index = await store.openIndex({ clock: () => NOW })
    await load(ndjson(orders), {
      writer: createWriter(index, () => NOW),
      mode: 'back-fill',
      onRefused() {},
      onProgress() {},
    }).finally(() => index.close())
    await store.refresh()
  }

  /** Puts a head by hand, as it is where a writer is not done. */
  async function putRecord(record: OrderVersionRecord) {
    const index = await store.openIndex({ clock: () => NOW })
    await putVersionRecord(index, record)
    await index.close()
  }

  /** `meanwhile`: what happens before anything is looked at again. */
  async function check(
    orders: object[],
    isWhole = true,
    meanwhile = async () => {},
  ): Promise<CheckReport> {
    return checkIndex({
      inspection: store.inspection,
      entries: entriesFromLines(ndjson(orders)),
      isWhole,
      maxExamples: 10,
      pause: meanwhile,
      onRefused() {},
      onProgress() {},
    })
  }

  const CLEAN = {
    missing: 0,
    extra: 0,
    different: 0,
    without_key_field: 0,
    damaged: 0,
    examples: [],
  }

  describe('a check', () => {
    it('finds nothing wrong with what was written from the same source', async () => {
      const source = [
        SHARED,
        DELETION,
        sourceOrder({ id: 'ord_2', changed_at: null }),
        sourceOrder({ id: 'ord_2', version: 3, status: 'REFUNDED' }),
        sourceOrder({ id: 'ord_2', version: 2, status: 'DISPUTED' }),
        sourceOrder({ id: 'ord_2', version: 3, status: 'SHIPPED' }),
        sourceOrder({ id: 'ord_2', version: 4, owner_account_id: 'acc_9' }),
        sourceOrder({ id: 'ord_3', coproducer_account_ids: ['acc_2', 'acc_3'] }),
        sourceOrder({ id: 'ord_3', version: 2, coproducer_account_ids: ['acc_3'] }),
        sourceOrder({ id: 'ord_4', payments: [sourcePayment({ status: 'FAILED' })] }),
        sourceOrder({ id: 'ord_5', changed_at: null, tracking: { b: '1', a: '2' } }),
        { ...sourceOrder({ id: 'ord_6' }), amount_total: 0.5 },
      ]
      await write(...source)
      expect(await check(source)).toEqual({
        ...CLEAN,
        read: 12,
        orders: 5,
        documents: 4,
        refused_lines: 2,
      })
    })

    it('finds a document that is missing', async () => {
      await write(SHARED)
      await store.drop('acc_2', 'ord_1')
      expect(await check([SHARED])).toMatchObject({
        ...CLEAN,
        missing: 1,
        examples: [{ kind: 'missing', accountId: 'acc_2', orderId: 'ord_1' }],
      })
    })

    it('finds that every document of an order is missing', async () => {
      await write(sourceOrder({ id: 'ord_2' }))
      const report = await check([sourceOrder({ id: 'ord_2' }), SHARED])
      expect(report).toMatchObject({ missing: 2, extra: 0, different: 0 })
      expect(report.examples.map(({ accountId }) => accountId)).toEqual(['acc_1', 'acc_2'])
    })

    it('finds where a document is different, and tells no value', async () => {
      const secret = { name: 'Ana Souza', email: 'ana@exemplo.com.br' }
      await write(SHARED)
      const report = await check([{ ...SHARED, status: 'REFUNDED', customer: secret }])
      expect(report).toMatchObject({ ...CLEAN, different: 2, examples: expect.anything() })
      expect(report.examples[0]?.fields.toSorted()).toEqual([
        '/customer/email',
        '/customer/name',
        '/status',
      ])
      expect(JSON.stringify(report)).not.toMatch(/ana|rita|REFUNDED/i)
    })

    it('finds that a document shows an older version', async () => {
      await write(sourceOrder())
      const report = await check([sourceOrder(), sourceOrder({ version: 2, status: 'REFUNDED' })])
      expect(report).toMatchObject({
        ...CLEAN,
        different: 1,
        examples: [{ fields: ['/status'], what: expect.stringContaining('has version 1') }],
      })
    })

    it('finds that a version is not recorded which shows nothing new', async () => {
      await write(sourceOrder())
      expect(await check([sourceOrder({ version: 2 })])).toMatchObject({
        ...CLEAN,
        missing: 1,
        examples: [{}],
      })
    })

    it('finds that an order that has its first fill is not dated', async () => {
      await write(sourceOrder({ changed_at: null }))
      expect(await check([sourceOrder()])).toMatchObject({
        ...CLEAN,
        different: 1,
        examples: [{ fields: ['/updated_at'] }],
      })
    })

    it('finds the documents of an order that the source does not have', async () => {
      await write(SHARED, sourceOrder({ id: 'ord_2' }))
      expect(await check([sourceOrder({ id: 'ord_2' })])).toMatchObject({
        ...CLEAN,
        extra: 2,
        examples: [
          { kind: 'extra', accountId: 'acc_1', orderId: 'ord_1' },
          { kind: 'extra', accountId: 'acc_2', orderId: 'ord_1' },
        ],
      })
    })

    it('finds the document of an account that takes no part', async () => {
      await write(SHARED)
      expect(await check([sourceOrder()])).toMatchObject({
        ...CLEAN,
        extra: 1,
        examples: [{ accountId: 'acc_2' }],
      })
    })

    it('finds the documents of an order that the source erased', async () => {
      await write(SHARED)
      expect(await check([SHARED, DELETION])).toMatchObject({ extra: 2, different: 0 })
    })

    it('leaves an order alone of which the index has a newer version', async () => {
      await write({ ...SHARED, version: 2, status: 'REFUNDED' })
      expect(await check([sourceOrder()])).toMatchObject(CLEAN)
    })

    it.each<[field: string, value: string | number]>([
      ['created_key', 1],
      ['updated_key', 1],
      ['status', 'UNPAID'],
      ['payment_method', 'BOLETO'],
    ])('finds that %s is not that of the order inside', async (field, value) => {
      await write(sourceOrder())
      await store.alter('acc_1', 'ord_1', field, value)
      expect(await check([sourceOrder()])).toMatchObject({
        ...CLEAN,
        without_key_field: 1,
        examples: [{ kind: 'without_key_field', orderId: 'ord_1', fields: [field] }],
      })
    })

    it('takes a document of an older shape for what it shows', async () => {
      await write(sourceOrder())
      await store.downgradeSchema('acc_1', 'ord_1', 'promocode')
      expect(await check([sourceOrder()])).toMatchObject(CLEAN)
    })

    it('without all of the source, goes by what the index knows of its orders', async () => {
      await write(SHARED, sourceOrder({ id: 'ord_2' }), DELETION)
      expect(await check([], false)).toMatchObject({ ...CLEAN, documents: 1 })
    })

    it('without all of the source, finds a document that its head names and that is lost', async () => {
      await write(SHARED, sourceOrder({ id: 'ord_2' }))
      await store.drop('acc_2', 'ord_1')
      expect(await check([], false)).toMatchObject({
        ...CLEAN,
        known_orders: 2,
        documents: 2,
        missing: 1,
        examples: [{ kind: 'missing', accountId: 'acc_2', orderId: 'ord_1' }],
      })
    })

    it('without all of the source, tells once what both source and index know to be lost', async () => {
      await write(SHARED)
      await store.drop('acc_2', 'ord_1')
      expect(await check([SHARED], false)).toMatchObject({ ...CLEAN, missing: 1, examples: [{}] })
    })

    it('without all of the source, misses no document that no search can find yet', async () => {
      await write(sourceOrder({ id: 'ord_2' }))
      const index = await store.openIndex({ clock: () => NOW })
      await createWriter(index, () => NOW).write([changeOf(SHARED)], 'live')
      expect(await check([], false)).toMatchObject({ ...CLEAN, known_orders: 2 })
      await index.close()
    })

    it('without all of the source, looks for no document of an order that nobody is shown', async () => {
      await write(sourceOrder({ payments: [sourcePayment({ status: 'FAILED' })] }))
      expect(await check([], false)).toMatchObject({ ...CLEAN, known_orders: 1 })
    })

    it('without all of the source, looks for no document of an erased order', async () => {
      await putRecord({ ...RECORD, deleted: true })
      expect(await check([], false)).toMatchObject({ ...CLEAN, known_orders: 1 })
    })

    it('looks again at an account that gets its document meanwhile', async () => {
      await write(sourceOrder())
      await putRecord(RECORD)
      const joining = () => write({ ...SHARED, version: 2 })
      expect(await check([], false)).toMatchObject({ missing: 1 })
      expect(await check([], false, joining)).toMatchObject(CLEAN)
    })

    it('waits for no writer', async () => {
      await write(sourceOrder())
      const index = await store.openIndex({ clock: () => NOW })
      expect(await check([sourceOrder()])).toMatchObject(CLEAN)
      await index.close()
    })
  })

  describe('an overview', () => {
    it('counts documents, and orders also where they are erased', async () => {
      await write(SHARED, sourceOrder({ id: 'ord_2' }), { ...DELETION, id: 'ord_3' })
      expect(await store.inspection.overview(0)).toMatchObject({
        documents: 3,
        orders: 3,
        indices: [{ read: true, fed: true, documents: 3, bytes: expect.any(Number) }],
      })
    })

    it('tells when the newest visible change was written', async () => {
      await write(sourceOrder())
      const position = await store.orders.latestWrite('acc_1')
      expect(await store.inspection.overview(0)).toMatchObject({ newestWrittenKey: position?.key })
    })

    it('of an empty index tells of no change', async () => {
      const overview = await store.inspection.overview(0)
      expect(overview).toMatchObject({
        documents: 0,
        orders: 0,
        newestWrittenKey: null,
        writer: null,
      })
    })
  })
})
