import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CheckReport, checkIndex } from '../../src/indexing/consistency-check/check-index.ts'
import { entriesFromLines } from '../../src/indexing/consistency-check/source-entries.ts'
import { load } from '../../src/indexing/sources/load.ts'
import type { OrderVersionRecord } from '../../src/indexing/writer/version-record.ts'
import { createWriter } from '../../src/indexing/writer/writer.ts'
import { changeOf } from '../support/orders/changes.ts'
import { sourceOrder, sourcePayment } from '../support/orders/source-order.ts'
import { versionRecord } from '../support/orders/version-record.ts'
import { putVersionRecord } from '../support/stores/bulk.ts'
import { ndjson } from '../support/stores/services.ts'
import { type StoresUnderTest, useStoresByShards } from './stores-under-test.ts'

const NOW = Date.parse('2026-05-01T00:00:00Z')
const DELETION = { id: 'ord_1', version: 2, owner_account_id: 'acc_1', deleted: true }
const SHARED = sourceOrder({ coproducer_account_ids: ['acc_2'] })
/** The record of the first version of an order of acc_1 with the co-producer acc_2. */
const RECORD = versionRecord({ accountIds: ['acc_1', 'acc_2'] })

describe.each(useStoresByShards())('a store on %s', (_name, open) => {
  let store: StoresUnderTest
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  async function write(...orders: object[]) {
    const index = await store.openIndex({ clock: () => NOW })
    await load(ndjson(orders), {
      writer: createWriter(index, () => NOW),
      mode: 'history',
      onRejected() {},
      onProgress() {},
    }).finally(() => index.close())
    await store.refresh()
  }

  /** Writes a version record directly, as a writer leaves it before its documents are complete. */
  async function putRecord(record: OrderVersionRecord) {
    const index = await store.openIndex({ clock: () => NOW })
    await putVersionRecord(index, record)
    await index.close()
  }

  /** `meanwhile` runs before the check reads its candidates again. */
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
      onRejected() {},
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

  describe('index check', () => {
    it('reports nothing for an index written from the same source', async () => {
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

    it('expects no order of a sandbox in the source', async () => {
      await write(SHARED, sourceOrder({ id: 'ord_test_1', owner_account_id: 'acc_1.test' }))
      expect(await check([SHARED])).toMatchObject({ ...CLEAN, documents: 3 })
    })

    it('reports a missing document', async () => {
      await write(SHARED)
      await store.drop('acc_2', 'ord_1')
      expect(await check([SHARED])).toMatchObject({
        ...CLEAN,
        missing: 1,
        examples: [{ kind: 'missing', accountId: 'acc_2', orderId: 'ord_1' }],
      })
    })

    it('reports an order whose documents are all missing', async () => {
      await write(sourceOrder({ id: 'ord_2' }))
      const report = await check([sourceOrder({ id: 'ord_2' }), SHARED])
      expect(report).toMatchObject({ missing: 2, extra: 0, different: 0 })
      expect(report.examples.map(({ accountId }) => accountId)).toEqual(['acc_1', 'acc_2'])
    })

    it('reports a different document without its values', async () => {
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

    it('reports an order that an earlier release stored with half of an emoji', async () => {
      const cut = sourceOrder({ customer: { name: 'Ana \ud83d', email: 'ana@x.com' } })
      const change = changeOf(cut)
      const views = change.views.map((view) => {
        const customer = { ...view.order.customer, name: 'Ana \ud83d' }
        return { ...view, order: { ...view.order, customer } }
      })
      const index = await store.openIndex({ clock: () => NOW })
      await createWriter(index, () => NOW).write([{ ...change, views }], 'history')
      await index.close()
      await store.refresh()
      expect(await check([cut])).toMatchObject({
        ...CLEAN,
        different: 1,
        examples: [{ fields: ['/customer/name'] }],
      })
    })

    it('reports a document of an older version', async () => {
      await write(sourceOrder())
      const report = await check([sourceOrder(), sourceOrder({ version: 2, status: 'REFUNDED' })])
      expect(report).toMatchObject({
        ...CLEAN,
        different: 1,
        examples: [{ fields: ['/status'], what: expect.stringContaining('has version 1') }],
      })
    })

    it('reports a missing version record when the version has no visible change', async () => {
      await write(sourceOrder())
      expect(await check([sourceOrder({ version: 2 })])).toMatchObject({
        ...CLEAN,
        missing: 1,
        examples: [{}],
      })
    })

    it('reports an order with an initial fill that has no updated_at', async () => {
      await write(sourceOrder({ changed_at: null }))
      expect(await check([sourceOrder()])).toMatchObject({
        ...CLEAN,
        different: 1,
        examples: [{ fields: ['/updated_at'] }],
      })
    })

    it('reports the documents of an order that the source does not contain', async () => {
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

    it('reports the document of an account that does not take part in the order', async () => {
      await write(SHARED)
      expect(await check([sourceOrder()])).toMatchObject({
        ...CLEAN,
        extra: 1,
        examples: [{ accountId: 'acc_2' }],
      })
    })

    it('reports the documents of an order that the source deleted', async () => {
      await write(SHARED)
      expect(await check([SHARED, DELETION])).toMatchObject({ extra: 2, different: 0 })
    })

    it('skips an order whose indexed version is newer than the source', async () => {
      await write({ ...SHARED, version: 2, status: 'REFUNDED' })
      expect(await check([sourceOrder()])).toMatchObject(CLEAN)
    })

    it('reports a lost document of an order whose indexed version is newer than the source', async () => {
      await write({ ...SHARED, version: 2, status: 'REFUNDED' })
      await store.drop('acc_2', 'ord_1')
      expect(await check([SHARED])).toMatchObject({
        ...CLEAN,
        missing: 1,
        examples: [{ kind: 'missing', accountId: 'acc_2', orderId: 'ord_1' }],
      })
    })

    it.each<[field: string, value: string | number]>([
      ['created_key', 1],
      ['updated_key', 1],
      ['status', 'UNPAID'],
      ['payment_method', 'BOLETO'],
    ])('reports a document whose %s differs from that of its order', async (field, value) => {
      await write(sourceOrder())
      await store.alter('acc_1', 'ord_1', field, value)
      expect(await check([sourceOrder()])).toMatchObject({
        ...CLEAN,
        without_key_field: 1,
        examples: [{ kind: 'without_key_field', orderId: 'ord_1', fields: [field] }],
      })
    })

    it('accepts a document of an older schema version with the same content', async () => {
      await write(sourceOrder())
      await store.downgradeSchema('acc_1', 'ord_1', 'promocode')
      expect(await check([sourceOrder()])).toMatchObject(CLEAN)
    })

    it('index check with a partial source uses the version records of the index', async () => {
      await write(SHARED, sourceOrder({ id: 'ord_2' }), DELETION)
      expect(await check([], false)).toMatchObject({ ...CLEAN, documents: 1 })
    })

    it('index check with a partial source reports a lost document that its version record names', async () => {
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

    it('index check with a partial source reports a document once that both source and index expect', async () => {
      await write(SHARED)
      await store.drop('acc_2', 'ord_1')
      expect(await check([SHARED], false)).toMatchObject({ ...CLEAN, missing: 1, examples: [{}] })
    })

    it('index check with a partial source finds documents that no search returns yet', async () => {
      await write(sourceOrder({ id: 'ord_2' }))
      const index = await store.openIndex({ clock: () => NOW })
      await createWriter(index, () => NOW).write([changeOf(SHARED)], 'live')
      expect(await check([], false)).toMatchObject({ ...CLEAN, known_orders: 2 })
      await index.close()
    })

    it('index check with a partial source expects no document for an order without accounts', async () => {
      await write(sourceOrder({ payments: [sourcePayment({ status: 'FAILED' })] }))
      expect(await check([], false)).toMatchObject({ ...CLEAN, known_orders: 1 })
    })

    it('index check with a partial source expects no document for a deleted order', async () => {
      await putRecord({ ...RECORD, deleted: true })
      expect(await check([], false)).toMatchObject({ ...CLEAN, known_orders: 1 })
    })

    it('reads again an account whose document arrives during the check', async () => {
      await write(sourceOrder())
      await putRecord(RECORD)
      const joining = () => write({ ...SHARED, version: 2 })
      expect(await check([], false)).toMatchObject({ missing: 1 })
      expect(await check([], false, joining)).toMatchObject(CLEAN)
    })

    it('index check does not wait for a writer', async () => {
      await write(sourceOrder())
      const index = await store.openIndex({ clock: () => NOW })
      expect(await check([sourceOrder()])).toMatchObject(CLEAN)
      await index.close()
    })
  })

  describe('index status', () => {
    it('counts documents, and orders including deleted ones', async () => {
      await write(SHARED, sourceOrder({ id: 'ord_2' }), { ...DELETION, id: 'ord_3' })
      expect(await store.inspection.overview(0)).toMatchObject({
        documents: 3,
        orders: 3,
        indices: [{ read: true, fed: true, documents: 3, bytes: expect.any(Number) }],
      })
    })

    it('returns the write time of the newest visible change', async () => {
      await write(sourceOrder())
      const position = await store.orders.latestWrite('acc_1')
      expect(await store.inspection.overview(0)).toMatchObject({ newestWrittenKey: position?.key })
    })

    it('returns no change for an empty index', async () => {
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
