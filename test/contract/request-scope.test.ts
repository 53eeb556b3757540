import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../src/lib/errors/unavailable.ts'
import { type RequestScope, unbounded } from '../../src/lib/request-scope.ts'
import { noFilters } from '../../src/orders/filters/filters.ts'
import type { OrderStore, PageQuery } from '../../src/orders/order-store.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { loadOrders } from './load-orders.ts'
import { type StoresUnderTest, useStores } from './stores-under-test.ts'

const query: PageQuery = {
  accountId: 'acc_1',
  sort: 'created_at_desc',
  filters: noFilters,
  after: null,
  nullsWrittenAfter: null,
  size: 21,
}

const calls: [name: string, call: (orders: OrderStore, scope: RequestScope) => Promise<unknown>][] =
  [
    ['slice', (orders, scope) => orders.findPage(query, scope)],
    ['latestWrite', (orders, scope) => orders.latestWrite('acc_1', scope)],
    ['get', (orders, scope) => orders.get('acc_1', 'ord_1', scope)],
  ]

describe.each(useStores())('a read of %s within a request', (_name, open) => {
  let store: StoresUnderTest
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  it.each(calls)('fails as unavailable after the request deadline: %s', async (_what, call) => {
    const overdue = { ...unbounded, remainingMs: () => -0.5 }
    await expect(call(store.orders, overdue)).rejects.toBeInstanceOf(Unavailable)
    await expect(call(store.orders, unbounded)).resolves.not.toBeUndefined()
  })

  it('has the bytes of a page until its release, and no longer', async () => {
    const orders = [sourceOrder({ id: 'ord_1' }), sourceOrder({ id: 'ord_2' })]
    await loadOrders(store, orders, { clock: Date.now })
    const frees: (() => void)[] = []
    const scope = { ...unbounded, onRelease: (free: () => void) => void frees.push(free) }
    const rows = await store.orders.findPage(query, scope)
    const ids = rows.map(({ json }) => JSON.parse(Buffer.from(json).toString()).id)
    expect(ids).toEqual(['ord_2', 'ord_1'])
    for (const free of frees) free()
    expect(rows.map(({ json }) => json.length)).toEqual([0, 0])
  })
})
