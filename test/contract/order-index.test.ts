import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { WriteMode } from '../../src/indexing/writer/order-index.ts'
import { createWriter, writeChanges } from '../../src/indexing/writer/writer.ts'
import { noFilters } from '../../src/orders/filters/filters.ts'
import { changeOf } from '../support/orders/changes.ts'
import { readOrder } from '../support/orders/read-order.ts'
import { sourceOrder, sourcePayment } from '../support/orders/source-order.ts'
import { writeBulk } from '../support/stores/bulk.ts'
import { loadOrders } from './load-orders.ts'
import { type StoresUnderTest, useStores } from './stores-under-test.ts'

const NOW = Date.parse('2026-03-02T00:00:00Z')

describe.each(useStores())('the order index on %s', (_name, open) => {
  let store: StoresUnderTest
  let nowMs = NOW
  beforeEach(async () => {
    nowMs = NOW
    store = await open()
  })
  afterEach(() => store.close())

  const write = (orders: object[], mode?: WriteMode) =>
    loadOrders(store, orders, { clock: () => nowMs, ...(mode && { mode }) })
  const read = (id: string, accountId?: string) => readOrder(store.orders, id, accountId)

  describe('with a version', () => {
    it('drops an older or equal version', async () => {
      await write([sourceOrder({ version: 5, amount_total: 5 })])
      for (const version of [5, 4, 1]) {
        expect(await write([sourceOrder({ version, amount_total: 1 })])).toMatchObject({
          older: 1,
          written: 0,
        })
      }
      expect((await read('ord_1'))?.amount_total).toBe(5)
    })

    it('keeps updated_at when a version changes nothing, and records the version', async () => {
      await write([sourceOrder({ version: 1 })])
      const before = await read('ord_1')
      expect(await write([sourceOrder({ version: 2 })])).toMatchObject({ unchanged: 1 })
      expect(await read('ord_1')).toEqual(before)
      expect(await write([sourceOrder({ version: 2, amount_total: 1 })])).toMatchObject({
        older: 1,
      })
    })

    it('stamps a version that changes something, above every earlier stamp', async () => {
      await write([sourceOrder({ version: 1 })])
      const updatedAts: (string | null | undefined)[] = []
      for (const [version, clock] of [
        [2, NOW],
        [3, NOW],
        [4, NOW - 60_000],
        [5, NOW + 1_000],
      ] as const) {
        nowMs = clock
        await write([sourceOrder({ version, amount_total: version })])
        updatedAts.push((await read('ord_1'))?.updated_at)
      }
      const expected = [NOW + 1, NOW + 2, NOW + 3, NOW + 1_000]
      expect(updatedAts).toEqual(expected.map((ms) => new Date(ms).toISOString()))
    })

    it('accepts a second version of the same order in one load', async () => {
      const versions = [1, 2, 3].map((version) => sourceOrder({ version, amount_total: version }))
      expect(await write(versions)).toMatchObject({ written: 3 })
      expect((await read('ord_1'))?.amount_total).toBe(3)
    })
  })

  describe('with updated_at', () => {
    it('uses the changed_at of a first version of history, and stamps a live one', async () => {
      await write([sourceOrder({ id: 'ord_1' })])
      await write([sourceOrder({ id: 'ord_2' })], 'live')
      expect((await read('ord_1'))?.updated_at).toBe('2026-03-01T12:05:00.000Z')
      expect((await read('ord_2'))?.updated_at).toBe(new Date(NOW + 1).toISOString())
    })

    it('updated_at is null until a version has a changed_at, and never null again', async () => {
      await write([sourceOrder({ version: 1, changed_at: null })])
      expect((await read('ord_1'))?.updated_at).toBeNull()
      await write([sourceOrder({ version: 2, changed_at: null, amount_total: 2 })])
      expect((await read('ord_1'))?.updated_at).toBeNull()
      await write([sourceOrder({ version: 3, amount_total: 2 })])
      const filled = (await read('ord_1'))?.updated_at
      expect(filled).not.toBeNull()
      await write([sourceOrder({ version: 4, changed_at: null, amount_total: 4 })])
      expect((await read('ord_1'))?.updated_at).not.toBeNull()
      expect((await read('ord_1'))?.updated_at).not.toBe(filled)
    })

    it('rejects a future changed_at in a load of history', async () => {
      const changed_at = new Date(NOW + 60_000).toISOString()
      expect(await write([sourceOrder({ changed_at })])).toMatchObject({
        rejectedPaths: ['/changed_at'],
      })
      expect(await read('ord_1')).toBeNull()
    })

    it('stamps each account independently', async () => {
      const coproducer_account_ids = ['acc_2']
      const tracking = { src: 'bio' }
      await write([sourceOrder({ version: 1, coproducer_account_ids })])
      const before = await read('ord_1', 'acc_2')
      await write([sourceOrder({ version: 2, coproducer_account_ids, tracking })])
      // A co-producer receives no tracking, so its view has no change.
      expect(await read('ord_1', 'acc_2')).toEqual(before)
      expect((await read('ord_1'))?.updated_at).toBe(new Date(NOW + 1).toISOString())
    })
  })

  describe('with accounts', () => {
    it('removes the order from an account that leaves, and stamps it for one that joins', async () => {
      await write([sourceOrder({ version: 1, coproducer_account_ids: ['acc_2'] })])
      await write([sourceOrder({ version: 2, coproducer_account_ids: ['acc_3'] })])
      expect(await read('ord_1', 'acc_2')).toBeNull()
      expect(await read('ord_1', 'acc_3')).toMatchObject({
        role: 'COPRODUCER',
        updated_at: new Date(NOW + 1).toISOString(),
      })
    })

    it('treats an account that is both owner and co-producer as the owner', async () => {
      await write([sourceOrder({ coproducer_account_ids: ['acc_1', 'acc_2', 'acc_2'] })])
      expect((await read('ord_1'))?.role).toBe('OWNER')
      expect((await read('ord_1', 'acc_2'))?.role).toBe('COPRODUCER')
    })
  })

  describe('with a forbidden change', () => {
    it('rejects a new owner', async () => {
      await write([sourceOrder({ version: 1 })])
      const stolen = sourceOrder({ version: 2, owner_account_id: 'acc_2' })
      expect((await write([stolen])).rejectedPaths).toEqual(['/owner_account_id'])
      expect(await read('ord_1', 'acc_2')).toBeNull()
    })

    it('rejects a new creation time', async () => {
      await write([sourceOrder({ version: 1 })])
      const moved = sourceOrder({ version: 2, created_at: '2026-03-01T12:00:01Z' })
      expect((await write([moved])).rejectedPaths).toEqual(['/created_at'])
    })
  })

  describe('with a deletion', () => {
    const deletion = (version: number) => {
      return { id: 'ord_1', version, owner_account_id: 'acc_1', deleted: true }
    }

    it('removes the order from every account', async () => {
      await write([sourceOrder({ version: 1, coproducer_account_ids: ['acc_2'] })])
      expect(await write([deletion(2)])).toMatchObject({ written: 1 })
      expect(await read('ord_1')).toBeNull()
      expect(await read('ord_1', 'acc_2')).toBeNull()
      const page = await store.orders.findPage({
        accountId: 'acc_1',
        sort: 'created_at_desc',
        filters: noFilters,
        after: null,
        nullsWrittenAfter: null,
        size: 100,
      })
      expect(page).toEqual([])
    })

    it('rejects older versions, also when the deletion arrived first', async () => {
      await write([deletion(5)])
      expect(await write([sourceOrder({ version: 4 })])).toMatchObject({ older: 1 })
      expect(await read('ord_1')).toBeNull()
    })

    it('accepts a newer version', async () => {
      await write([sourceOrder({ version: 1 }), deletion(2)])
      await write([sourceOrder({ version: 3 })])
      expect((await read('ord_1'))?.updated_at).toBe(new Date(NOW + 2).toISOString())
    })
  })

  describe('with an order whose payments all failed', () => {
    const failed = [sourcePayment({ status: 'FAILED' })]

    it('hides the order, and stamps it once it is visible', async () => {
      await write([sourceOrder({ version: 1, payments: failed })])
      expect(await read('ord_1')).toBeNull()
      await write([sourceOrder({ version: 2 })])
      // It is stamped instead of keeping its changed_at. Whether the first bulk had one depends on
      // the store.
      expect(Date.parse((await read('ord_1'))?.updated_at ?? '')).toBeGreaterThanOrEqual(NOW)
    })

    it('removes a visible order', async () => {
      await write([sourceOrder({ version: 1 })])
      await write([sourceOrder({ version: 2, payments: failed })])
      expect(await read('ord_1')).toBeNull()
    })
  })

  describe('with a bulk', () => {
    it('a bulk that fails before it is sent writes nothing and lets the next one run', async () => {
      const index = await store.openIndex({ clock: () => nowMs })
      const failing = writeBulk(index, () => {
        throw new Error('killed')
      })
      await expect(failing).rejects.toThrow('killed')
      await index.close()
      expect(await write([sourceOrder({ id: 'ord_1' })])).toMatchObject({ written: 1 })
    })

    it('a bulk waits for the previous bulk', async () => {
      const index = await store.openIndex({ clock: () => nowMs })
      const writer = createWriter(index, () => nowMs)
      const versions = [1, 2, 3].map((version) => sourceOrder({ version, amount_total: version }))
      const verdicts = versions.map((order) => writer.write([changeOf(order)], 'live'))
      expect(await Promise.all(verdicts)).toEqual([['written'], ['written'], ['written']])
      await index.close()
      expect((await read('ord_1'))?.amount_total).toBe(3)
    })

    it('a batch with several versions of an order waits for every version of the previous one', async () => {
      const index = await store.openIndex({ clock: () => nowMs })
      const writer = createWriter(index, () => nowMs)
      const order = (id: string, version: number) =>
        changeOf(sourceOrder({ id, version, amount_total: version }))
      const batches = [
        [order('ord_1', 1), order('ord_2', 1), order('ord_1', 2), order('ord_2', 2)],
        [order('ord_2', 3), order('ord_1', 3), order('ord_2', 4)],
        [order('ord_1', 4), order('ord_2', 5), order('ord_1', 5)],
      ]
      const results = await Promise.all(batches.map((batch) => writeChanges(writer, batch, 'live')))
      await index.close()
      expect(results).toEqual(batches.map((batch) => batch.map(() => 'written')))
    })
  })
})
