import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LOAD_BATCH, load } from '../../src/indexing/sources/load.ts'
import { mapTransactions } from '../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../src/indexing/writer/writer.ts'
import { readOrder } from '../support/orders/read-order.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { ndjson } from '../support/stores/services.ts'
import { recordedEvents, subscribe } from '../support/webhooks/recorded-events.ts'
import { type StoresUnderTest, useStores } from './stores-under-test.ts'

const NOW = Date.parse('2026-03-02T00:00:00Z')

const order = (version: number, changes: object) =>
  sourceOrder({ version, changed_at: null, ...changes })
const AWAITING = order(1, { status: 'AWAITING_PAYMENT' })
/** Only this version has a `changed_at`. */
const PAID = order(2, { changed_at: '2026-03-01T12:05:00Z' })
const REFUNDED = order(3, { status: 'REFUNDED' })
const ERASED = { id: 'ord_1', version: 2, owner_account_id: 'acc_1', deleted: true }

describe.each(useStores())(
  'a load of an order whose lines are in two batches, on %s',
  (_name, open) => {
    let store: StoresUnderTest
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())

    const events = () => recordedEvents({ services: store, refresh: store.refresh })

    /** Loads these source orders live, the last of them in a second batch. */
    async function loadAcrossBatches(orders: readonly object[]) {
      await subscribe({ services: store, refresh: store.refresh }, 'acc_1')
      const rejected = Array.from({ length: LOAD_BATCH.entries - orders.length + 1 }, () => ({}))
      const index = await store.openIndex({ clock: () => NOW })
      const summary = await load(ndjson([...rejected, ...orders]), {
        writer: createWriter(index, () => NOW),
        mode: 'live',
        onRejected() {},
        onProgress() {},
      }).finally(() => index.close())
      await store.refresh()
      return summary
    }

    it('every version is written and announced in the sequence of the lines', async () => {
      const summary = await loadAcrossBatches([AWAITING, PAID, REFUNDED])
      expect(summary).toMatchObject({ written: 3, older: 0 })
      expect(await events()).toEqual([
        'ord_1 1 order.created acc_1 new to AWAITING_PAYMENT',
        'ord_1 2 order.awaiting_payment acc_1 new to AWAITING_PAYMENT',
        'ord_1 3 order.paid acc_1 AWAITING_PAYMENT to PAID',
        'ord_1 4 order.refunded acc_1 PAID to REFUNDED',
      ])
    })

    it('the changed_at of a middle version counts', async () => {
      await loadAcrossBatches([AWAITING, PAID, REFUNDED])
      const order = await readOrder(store.orders, 'ord_1')
      expect(order?.updated_at).toEqual(expect.any(String))
    })

    it('a resumed load announces the batch that failed, not only a later one with the same order', async () => {
      await subscribe({ services: store, refresh: store.refresh }, 'acc_1')
      const rejected = Array.from({ length: LOAD_BATCH.entries - 1 }, () => ({}))
      const unrelated = order(1, { id: 'ord_2', owner_account_id: 'acc_2' })
      const source = [...rejected, AWAITING, PAID, ...rejected, unrelated]
      const index = await store.openIndex({ clock: () => NOW })
      const thirdBatch = Promise.withResolvers<void>()
      const failing = mapTransactions(index, (transaction) => ({
        ...transaction,
        async commit(writes, mode) {
          const isFirstBatch = writes.versionRecords.some(
            ({ orderId, version }) => orderId === 'ord_1' && version === 1,
          )
          if (!isFirstBatch) return transaction.commit(writes, mode)
          await thirdBatch.promise // So the second batch waits for this one.
          throw new Error('disk full')
        },
      }))
      const quiet = { mode: 'live' as const, onRejected() {}, onProgress() {} }
      const { write } = createWriter(failing, () => NOW)
      const stopped = load(ndjson(source), {
        ...quiet,
        writer: {
          write(changes, mode) {
            if (changes.some(({ orderId }) => orderId === 'ord_2')) thirdBatch.resolve()
            return write(changes, mode)
          },
        },
      })
      await expect(stopped).rejects.toThrow('disk full')

      const writer = createWriter(index, () => NOW)
      await load(ndjson(source), { ...quiet, writer }).finally(() => index.close())
      await store.refresh()
      expect(await events()).toEqual([
        'ord_1 1 order.created acc_1 new to AWAITING_PAYMENT',
        'ord_1 2 order.awaiting_payment acc_1 new to AWAITING_PAYMENT',
        'ord_1 3 order.paid acc_1 AWAITING_PAYMENT to PAID',
      ])
    })

    it('an erasure between two versions is announced', async () => {
      await loadAcrossBatches([AWAITING, ERASED, REFUNDED])
      expect((await events()).slice(2)).toEqual([
        'ord_1 3 order.removed acc_1',
        'ord_1 4 order.created acc_1 new to REFUNDED',
        'ord_1 5 order.refunded acc_1 new to REFUNDED',
      ])
    })
  },
)
