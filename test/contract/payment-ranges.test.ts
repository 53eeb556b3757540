import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SourceOrder } from '../../src/indexing/projection/source-order.ts'
import { load } from '../../src/indexing/sources/load.ts'
import { createWriter } from '../../src/indexing/writer/writer.ts'
import { MINUTE_MS } from '../../src/lib/durations.ts'
import { formatInstant } from '../../src/lib/instant.ts'
import { noFilters, type OrderFilters } from '../../src/orders/filters/filters.ts'
import { isAfter, type Position, type Sort, sorts } from '../../src/orders/order-store.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { ndjson } from '../support/stores/services.ts'
import { type StoresUnderTest, useStores } from './stores-under-test.ts'

const START = Date.parse('2026-03-01T00:00:00Z')
const ORDERS = 300
const PAGE_SIZE = 9

interface Instants {
  created: number
  paid: number
  updated: number
}

const at = (minute: number) => START + minute * MINUTE_MS

/** An order is created, then paid, then updated, and ten minutes lie between each. */
const inSequence = (place: number): Instants => ({
  created: at(place),
  paid: at(place + 10),
  updated: at(place + 20),
})

/** Instants of a platform that imported orders, or corrected a payment without a new date. */
const outOfSequence: Record<string, (usual: Instants) => Instants> = {
  'paid long before they were created': (usual) => ({
    ...usual,
    paid: usual.created - 250 * MINUTE_MS,
  }),
  'paid long after their last update': (usual) => ({
    ...usual,
    paid: usual.updated + 250 * MINUTE_MS,
  }),
  // The zero time of Go.
  'paid in year 1': (usual) => ({ ...usual, paid: Date.parse('0001-01-01T00:00:00Z') }),
}

const cases = Object.entries(outOfSequence).flatMap(([name, change]) =>
  [2, 150].map((count) => ({ name, change, count })),
)

describe.each(useStores())('ranges of payments on %s', (_name, open) => {
  let store: StoresUnderTest
  const written = new Map<string, { id: string; instants: Instants }[]>()
  const accountOf = ({ name, count }: { name: string; count: number }) =>
    `acc_${name.split(' ')[2]}_${count}`

  beforeAll(async () => {
    store = await open()
    const index = await store.openIndex()
    const sources: SourceOrder[] = []
    for (const { name, change, count } of cases) {
      const accountId = accountOf({ name, count })
      const every = Math.floor(ORDERS / count)
      const orders = Array.from({ length: ORDERS }, (_, place) => {
        const usual = inSequence(place)
        return {
          id: `ord_${accountId}_${place}`,
          instants: place % every === 1 ? change(usual) : usual,
        }
      })
      written.set(accountId, orders)
      sources.push(...orders.map((order) => toSource(accountId, order)))
    }
    await load(ndjson(sources), {
      writer: createWriter(index, Date.now),
      mode: 'history',
      onRejected: (_line, { reason }) => expect.unreachable(reason),
      onProgress() {},
    }).finally(() => index.close())
    await store.refresh()
  })
  afterAll(() => store.close())

  describe.each(cases)('beside $count orders $name', ({ name, count }) => {
    it.each<[string, OrderFilters['paid']]>([
      ['from an instant', { gte: at(200) }],
      ['until an instant', { lt: at(60) }],
      ['before the first creation', { lt: at(0) }],
      ['an early range', { gte: at(20), lt: at(80) }],
      ['a late range', { gte: at(240), lt: at(310) }],
      ['after the last update', { gte: at(320) }],
    ])('every page of %s has exactly the orders of the range', async (_range, paid) => {
      const accountId = accountOf({ name, count })
      for (const sort of sorts) {
        const found = await walk(store, { accountId, sort, paid })
        expect([sort, found]).toEqual([sort, expectedOf(written.get(accountId) ?? [], sort, paid)])
      }
    })
  })
})

function toSource(
  accountId: string,
  { id, instants }: { id: string; instants: Instants },
): SourceOrder {
  return sourceOrder({
    id,
    owner_account_id: accountId,
    created_at: formatInstant(instants.created),
    paid_at: formatInstant(instants.paid),
    changed_at: formatInstant(instants.updated),
  })
}

async function walk(
  store: StoresUnderTest,
  { accountId, sort, paid }: { accountId: string; sort: Sort; paid: OrderFilters['paid'] },
): Promise<string[]> {
  const ids: string[] = []
  for (let after: Position | null = null; ; ) {
    const query = { accountId, sort, after, nullsWrittenAfter: null, size: PAGE_SIZE }
    const rows = await store.orders.findPage({ ...query, filters: { ...noFilters, paid } })
    ids.push(...rows.map(({ id }) => id))
    after = rows.at(-1) ?? null
    // Pages that repeat would never end.
    if (rows.length < PAGE_SIZE || ids.length > ORDERS) return ids
  }
}

function expectedOf(
  orders: { id: string; instants: Instants }[],
  sort: Sort,
  { gte = -Infinity, lt = Infinity }: OrderFilters['paid'],
): string[] {
  const keyOf = ({ created, updated }: Instants) => (sort === 'created_at_desc' ? created : updated)
  return orders
    .filter(({ instants: { paid } }) => paid >= gte && paid < lt)
    .map(({ id, instants }) => ({ id, key: keyOf(instants) }))
    .sort((one, other) => (isAfter(one, other, sort) ? 1 : -1))
    .map(({ id }) => id)
}
