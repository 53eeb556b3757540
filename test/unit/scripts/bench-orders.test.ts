import { describe, expect, it } from 'vitest'
import { searchRequest } from '../../../scripts/bench/baselines/straightforward-app.ts'
import { createCases, meanRows, placesOf } from '../../../scripts/bench/orders/cases.ts'
import { createOrders, LARGE_ACCOUNT, type Row } from '../../../scripts/bench/orders/orders.ts'
import { recordSearches } from '../../../scripts/bench/orders/searches.ts'
import {
  createSizedAccounts,
  type SizedAccount,
} from '../../../scripts/bench/orders/sized-accounts.ts'
import { NULL_UPDATED_KEY, type Sort, sorts } from '../../../src/orders/order-store.ts'

const UNTIL = Date.UTC(2026, 0, 1)
const COUNT = 8_000
const orders = createOrders(COUNT, UNTIL)
const rows = [...orders.rows()]

describe('generated orders', () => {
  it('Half of the orders belong to one account, a tenth to another, and about 80 to each of the rest', () => {
    const byAccount = Map.groupBy(rows, ({ accountId }) => accountId)
    const shareOf = (id: string) => (byAccount.get(id)?.length ?? 0) / COUNT
    expect(shareOf(LARGE_ACCOUNT)).toBeCloseTo(0.5, 1)
    expect(shareOf('acc_medium')).toBeCloseTo(0.1, 1)
    expect(orders.smallAccounts).toHaveLength(40)
    for (const id of orders.smallAccounts)
      expect(Math.abs(shareOf(id) * COUNT - 80)).toBeLessThan(40)
  })

  it('Ids are unique, 2% of orders have no updated_at, and the same seed gives the same rows', () => {
    expect(new Set(rows.map(({ orderId }) => orderId)).size).toBe(COUNT)
    const undated = rows.filter(({ updatedKey }) => updatedKey === NULL_UPDATED_KEY)
    expect(undated.length / COUNT).toBeCloseTo(0.02, 1)
    expect([...createOrders(COUNT, UNTIL).rows()]).toEqual(rows)
  })

  it('The documents have the ids and dates of their rows', () => {
    for (const [at, lines] of orders.bulkLines().take(200).toArray().entries()) {
      const [action = '', source = ''] = lines.trimEnd().split('\n')
      const { accountId, orderId, createdKey, updatedKey } = rows[at] ?? {}
      const index = { _id: `${accountId}:${orderId}`, routing: accountId }
      expect(JSON.parse(action)).toEqual({ index })
      const instant = (key = 0) => (key === NULL_UPDATED_KEY ? null : new Date(key).toISOString())
      expect(JSON.parse(source)).toMatchObject({
        account_id: accountId,
        created_key: createdKey,
        updated_key: updatedKey,
        order: { id: orderId, created_at: instant(createdKey), updated_at: instant(updatedKey) },
      })
    }
  })
})

describe('cases', () => {
  const cases = createCases(orders)

  it('The cases combine both accounts, sorts and limits', () => {
    const names = ['large', 'small'].flatMap((account) =>
      ['created', 'updated'].flatMap((sort) =>
        [20, 100].map((limit) => `${account} ${sort} ${limit}`),
      ),
    )
    expect(cases.map(({ name }) => name)).toEqual(names)
  })

  it('Each case has more pages than the filters that OpenSearch remembers', () => {
    for (const { places } of cases) expect(places.length).toBeGreaterThan(256)
  })

  it('Mean rows are fewer than the limit where the listing of a small account ends', () => {
    const [largeOf20, largeOf100, , , smallOf20, smallOf100 = 0] = cases.map(meanRows)
    expect([largeOf20, largeOf100, smallOf20]).toEqual([20, 100, 20])
    expect(smallOf100).toBeGreaterThan(20)
    expect(smallOf100).toBeLessThan(100)
  })
})

describe('places', () => {
  /** Ascending creation, descending change; the last two differ by id only. */
  const rowsOf = (count: number) =>
    Array.from({ length: count }, (_, at): Row => {
      const orderId = `ord_${String(at).padStart(6, '0')}`
      const createdKey = Math.min(at, count - 2)
      return { accountId: 'acc_1', orderId, createdKey, updatedKey: count - at }
    })
  const rowsBefore = (count: number, places: number) =>
    placesOf(rowsOf(count), 'updated_at_asc', places).map((place) => place.rowsBefore)

  it('Places are spread over a tenth of a long listing, and adjacent in a short one', () => {
    const spread = (first: number, count: number, step: number) =>
      Array.from({ length: count }, (_, at) => first + step * at)
    expect(rowsBefore(10_000, 100)).toEqual(spread(2_500, 100, 10))
    expect(rowsBefore(80, 16)).toEqual(spread(20, 16, 1))
    expect(rowsBefore(50_000, 2)).toEqual(spread(12_500, 2, 100)) // At most a page apart.
    expect(rowsBefore(4, 16)).toEqual([1, 2, 3]) // A page follows each.
  })

  it('A place has the order before it, and the ids after it in the order of the sort', () => {
    const [byChange] = placesOf(rowsOf(8), 'updated_at_asc', 1)
    expect(byChange).toMatchObject({ rowsBefore: 2, after: { key: 2, id: 'ord_000006' } })
    const ids = [5, 4, 3, 2, 1, 0].map((at) => `ord_00000${at}`)
    expect(byChange?.following).toEqual(ids)
    const [byCreation] = placesOf(rowsOf(4), 'created_at_desc', 1)
    expect(byCreation?.after).toEqual({ key: 2, id: 'ord_000003' })
    expect(byCreation?.following).toEqual(['ord_000002', 'ord_000001', 'ord_000000'])
    expect(placesOf(rowsOf(1_000), 'updated_at_asc', 1)[0]?.following).toHaveLength(101)
  })
})

describe('sized accounts', () => {
  const sizes = [1_000, 4_000]
  const { accounts, bulkLines } = createSizedAccounts(sizes, UNTIL)
  const documents = [...bulkLines()].map((lines) => JSON.parse(lines.split('\n')[1] ?? ''))
  const [, larger] = accounts as [SizedAccount, SizedAccount]

  it('Accounts have the given number of orders with unique ids, and are interleaved', () => {
    const byAccount = Map.groupBy(documents, ({ account_id }) => account_id)
    expect(accounts.map(({ id }) => byAccount.get(id)?.length)).toEqual(sizes)
    expect(new Set(documents.map(({ id }) => id)).size).toBe(5_000)
    expect(new Set(documents.slice(0, 50).map(({ account_id }) => account_id)).size).toBe(2)
  })

  it.each(sorts)('The listing has the order of the documents by %s', (sort: Sort) => {
    const key = sort === 'created_at_desc' ? 'created_key' : 'updated_key'
    const own = documents.filter(({ account_id }) => account_id === larger.id)
    own.sort((a, b) => a[key] - b[key] || (a.id < b.id ? -1 : 1))
    const sorted = sort === 'created_at_desc' ? own.reverse() : own
    const listing = larger.listing(sort)
    const ids = Array.from({ length: larger.size }, (_, place) => listing.at(place).id)
    expect(ids).toEqual(sorted.map(({ id }) => id))
    const lastDated = sorted.findLast((document) => document[key] !== NULL_UPDATED_KEY)
    expect(listing.lastDated?.id).toBe(lastDated.id)
  })
})

describe('searches', () => {
  it.each(sorts)(
    'The straightforward baseline sends the search of the service by %s',
    async (sort) => {
      const after = { key: 1_700_000_000_000, id: 'ord_1' }
      const place = { accountId: 'acc_1', sort, rowsBefore: 1, after, following: [] }
      const plan = { urls: ['http://127.0.0.1'], index: 'orders', places: [place], limit: 20 }
      const [recorded] = await recordSearches(plan)
      const { pathname, searchParams } = new URL(`http://127.0.0.1${recorded?.path}`)
      const { index, body, ...params } = searchRequest('orders', { ...place, limit: 20 })
      expect(pathname).toBe(`/${index}/_search`)
      const complete = { ...params, allow_partial_search_results: 'false' }
      expect(Object.fromEntries(searchParams)).toEqual(complete)
      expect(JSON.parse(String(recorded?.body))).toEqual(body)
    },
  )
})
