import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLoadWriter } from '../../src/cli/indexer/load-writer.ts'
import { noFilters } from '../../src/orders/filters/filters.ts'
import type { Position, RenderedOrder } from '../../src/orders/order-store.ts'
import { changeOf } from '../support/orders/changes.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { keyRecord } from '../support/stores/key-record.ts'
import { type StoresUnderTest, useStores } from './stores-under-test.ts'

const NOW = Date.parse('2026-03-02T00:00:00Z')

/** An order that changed this many minutes after noon. */
const change = (minute: number) =>
  changeOf(sourceOrder({ id: `ord_${minute}`, changed_at: `2026-03-01T12:0${minute}:00Z` }))

describe.each(useStores())('a load without a mode, on %s', (_name, open) => {
  let store: StoresUnderTest
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  function page(after: Position | null): Promise<RenderedOrder[]> {
    const range = { after, nullsWrittenAfter: null, size: 10 }
    const listing = { accountId: 'acc_1', sort: 'updated_at_asc', filters: noFilters } as const
    return store.orders.findPage({ ...listing, ...range })
  }

  it('a client whose key is first used during the load receives what the load writes after its page', async () => {
    const index = await store.openIndex({ clock: () => NOW })
    const options = { index, keys: store.keys, onDelay() {} }
    const { writer, mode, finish } = await createLoadWriter({}, options)
    await store.keys.insert(keyRecord())
    await writer.write([change(8)], mode)
    await store.refresh()
    await store.keys.update(keyRecord().digest, { lastValidAt: NOW })
    const [last] = await page(null)
    expect(last?.id).toBe('ord_8')

    // After a second, the writer stops instead.
    await writer.write([change(1), change(9)], mode).catch(() => {})
    await finish()
    await index.close()
    await store.refresh()
    expect(await page(last ?? null)).toEqual(await page(null))
  })
})
