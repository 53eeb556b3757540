import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { load } from '../../src/indexing/sources/load.ts'
import { createWriter } from '../../src/indexing/writer/writer.ts'
import { noFilters } from '../../src/orders/filters/filters.ts'
import type { Order } from '../../src/orders/order.ts'
import type { PageQuery } from '../../src/orders/order-store.ts'
import { readPage } from '../../src/orders/paging.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { ndjson } from '../support/stores/services.ts'
import { type StoresUnderTest, useStores } from './stores-under-test.ts'

const NOW = Date.parse('2026-03-02T00:00:00Z')
const CHANGED_AT = '2026-03-01T12:05:00.000Z'
const BY_UPDATE: Pick<PageQuery, 'accountId' | 'sort' | 'filters'> = {
  accountId: 'acc_1',
  sort: 'updated_at_asc',
  filters: noFilters,
}

// The test adds the field `utm` to the schema. Documents of an older schema version lack it.
describe.each(useStores())('a field added to the schema, on %s', (_name, open) => {
  let store: StoresUnderTest
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  async function write(orders: object[], reproject = false) {
    const index = await store.openIndex({ clock: () => NOW })
    const summary = await load(ndjson(orders), {
      writer: createWriter(index, () => NOW, { equalVersions: reproject ? 'reproject' : 'drop' }),
      mode: 'history',
      onRejected: (line, { path, reason }) => {
        throw new Error(`line ${line}: ${path}: ${reason}`)
      },
      onProgress() {},
    }).finally(() => index.close())
    await store.refresh()
    return summary
  }

  async function read(id: string): Promise<Order> {
    const json = await store.orders.get('acc_1', id)
    return JSON.parse(Buffer.from(json ?? 'null').toString())
  }

  it('a new field is null in existing documents, and has its value after a load with --reproject', async () => {
    const orders = [
      sourceOrder({ id: 'ord_1', utm: { utm_source: 'radio' } }),
      sourceOrder({ id: 'ord_2' }),
    ]
    await write(orders)
    for (const { id } of orders) await store.downgradeSchema('acc_1', id, 'utm')
    expect(await read('ord_1')).toMatchObject({ utm: null, updated_at: CHANGED_AT })

    expect(await write(orders)).toMatchObject({ written: 0, older: 2 })
    expect(await write(orders, true)).toMatchObject({ written: 2, older: 0 })
    const { utm, updated_at } = await read('ord_1')
    expect(utm).toMatchObject({ utm_source: 'radio' })
    expect(Date.parse(updated_at ?? '')).toBeGreaterThanOrEqual(NOW)
    // Without a value, readers receive the same order, so it is no change.
    expect(await read('ord_2')).toMatchObject({ utm: null, updated_at: CHANGED_AT })
    // All documents have the current schema version now.
    expect(await write(orders, true)).toMatchObject({ written: 0, older: 2 })
  })

  it('a new field that is null repeats no order without updated_at for a client that pages', async () => {
    const undated = { changed_at: null }
    const plain = ['ord_1', 'ord_2', 'ord_3'].map((id) => sourceOrder({ id, ...undated }))
    const filled = sourceOrder({ id: 'ord_4', ...undated, utm: { utm_source: 'radio' } })
    await write([...plain, filled])
    for (const id of ['ord_1', 'ord_2', 'ord_3', 'ord_4'])
      await store.downgradeSchema('acc_1', id, 'utm')

    const first = await readPage(store.orders, BY_UPDATE, null, 2)
    await write([...plain, filled], true)
    const rest = await readPage(store.orders, BY_UPDATE, first.next, 100)

    expect(first.rows.map(({ id }) => id)).toEqual(['ord_1', 'ord_2'])
    // An order with a value in the new field is listed once more, with that value.
    expect(rest.rows.map(({ id }) => id)).toEqual(['ord_3', 'ord_4', 'ord_4'])
    expect(rest.next).toBeNull()
  })
})
