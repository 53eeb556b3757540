import { describe, expect, it } from 'vitest'
import { searchRequest } from '../../../../scripts/bench/baselines/straightforward-app.ts'
import {
  createCases,
  idsOf,
  placesOf,
  positionBefore,
  stateAt,
} from '../../../../scripts/bench/orders/cases.ts'
import { accountSizes, createOrders } from '../../../../scripts/bench/orders/orders.ts'
import { recordSearches } from '../../../../scripts/bench/orders/searches.ts'
import { depthCases } from '../../../../scripts/bench/parts/sizes.ts'
import { NULL_INSTANT_KEY, sorts } from '../../../../src/orders/order-store.ts'

const UNTIL = Date.UTC(2026, 0, 1)
const orders = createOrders(accountSizes(8_000), UNTIL)
const documents = [...orders.bulkLines()].map((lines) => {
  const [action = '', source = ''] = lines.trimEnd().split('\n')
  return { action: JSON.parse(action), ...JSON.parse(source) }
})
const large = orders.accounts.slice(0, 1)

describe('generated orders', () => {
  it('Half of the orders belong to one account, a tenth to another, and 80 to each of the rest', () => {
    const byAccount = Map.groupBy(documents, ({ account_id }) => account_id)
    const [first, second, ...others] = orders.accounts.map(({ id }) => byAccount.get(id)?.length)
    expect([first, second]).toEqual([4_000, 800])
    expect(others).toEqual(Array.from({ length: 40 }, () => 80))
    expect(byAccount.size).toBe(42)
    expect(
      new Set(documents.slice(0, 200).map(({ account_id }) => account_id)).size,
    ).toBeGreaterThan(9)
  })

  it('Ids are unique, 2% of orders have no updated_at, and the same sizes give the same orders', () => {
    expect(new Set(documents.map(({ id }) => id)).size).toBe(8_000)
    const undated = documents.filter(({ updated_key }) => updated_key === NULL_INSTANT_KEY)
    expect(undated.length / 8_000).toBeCloseTo(0.02, 1)
    const again = createOrders(accountSizes(8_000), UNTIL)
    expect(again.bulkLines().take(100).toArray()).toEqual(orders.bulkLines().take(100).toArray())
  })

  it('The documents have the ids and dates of their orders', () => {
    const instant = (key: number) => (key === NULL_INSTANT_KEY ? null : new Date(key).toISOString())
    for (const { action, account_id, id, created_key, updated_key, order } of documents) {
      expect(action.index).toEqual({ _id: `${account_id}:${id}`, routing: account_id })
      const dates = { created_at: instant(created_key), updated_at: instant(updated_key) }
      expect(order).toMatchObject({ id, ...dates })
    }
  })

  it.each(sorts)('A listing has the sequence of the documents by %s', (sort) => {
    const key = sort === 'created_at_desc' ? 'created_key' : 'updated_key'
    const own = documents.filter(({ account_id }) => account_id === large[0]?.id)
    own.sort((a, b) => a[key] - b[key] || (a.id < b.id ? -1 : 1))
    const sorted = sort === 'created_at_desc' ? own.reverse() : own
    const listing = large[0]?.listing(sort)
    const ids = Array.from({ length: 4_000 }, (_, row) => listing?.at(row).id)
    expect(ids).toEqual(sorted.map(({ id }) => id))
    const lastDated = sorted.findLast((document) => document[key] !== NULL_INSTANT_KEY)
    expect(listing?.lastDated?.id).toBe(lastDated?.id)
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
})

describe('places', () => {
  /** A listing whose last tenth has no date. */
  const accountOf = (size: number) => {
    const at = (row: number) => {
      const key = row < 0.9 * size ? row : NULL_INSTANT_KEY
      return { key, id: `ord_${row}` }
    }
    const lastDated = at(Math.ceil(0.9 * size) - 1)
    return { id: 'acc_1', size, listing: () => ({ size, at, lastDated }) }
  }
  const placesIn = (size: number, spread: Partial<Parameters<typeof placesOf>[2]>) =>
    placesOf(accountOf(size), 'updated_at_asc', {
      ...{ depth: 0.25, span: 0.1, count: 100, following: 1 },
      ...spread,
    })
  const rowsIn = (...args: Parameters<typeof placesIn>) => placesIn(...args).map(({ row }) => row)
  const spread = (first: number, count: number, step: number) =>
    Array.from({ length: count }, (_, at) => first + step * at)

  it('Places are spread over a share of a long listing, and adjacent in a short one', () => {
    expect(rowsIn(10_000, {})).toEqual(spread(2_500, 100, 10))
    expect(rowsIn(80, { count: 16 })).toEqual(spread(20, 16, 1))
    expect(rowsIn(4, { count: 16 })).toEqual([1, 2, 3])
    expect(rowsIn(80, { depth: 0 })).toEqual([0])
  })

  it('Places begin earlier where fewer orders would follow than necessary', () => {
    expect(rowsIn(1_000, { depth: 0.99, span: 0.01, following: 21 })).toEqual(spread(880, 100, 1))
  })

  it('A page has the orders after its place', () => {
    const [place] = placesIn(8, { count: 1 })
    expect(place && idsOf(place, 3)).toEqual(['ord_2', 'ord_3', 'ord_4'])
    expect(place && positionBefore(place)).toEqual({ key: 1, id: 'ord_1' })
    expect(place && idsOf(place, 100)).toHaveLength(6)
  })

  it('A cursor has the last dated order, and only after an order without a date the latest write', () => {
    const mark = { key: 9, id: 'ord_last' }
    const cases = depthCases(accountOf(4_000))
    const stateOf = (name: string) => {
      const [place] = cases.find((one) => one.name === name)?.places ?? []
      return place && stateAt(place, mark)
    }
    const unmarked = { mark: null, nextMark: null }
    expect(stateOf('updated first')).toBeNull()
    const after = { key: 1_999, id: 'ord_1999' }
    expect(stateOf('updated 50%')).toEqual({ ...unmarked, after, dated: after })
    expect(stateOf('created 50%')).toEqual({ ...unmarked, after, dated: null })
    const undated = { dated: { key: 3_599, id: 'ord_3599' }, mark: null, nextMark: mark }
    expect(stateOf('updated 99%')).toMatchObject(undated)
  })
})

it.each(sorts)(
  'The straightforward baseline sends the search of the service by %s',
  async (sort) => {
    const listing = large[0]?.listing(sort)
    if (listing === undefined) throw new Error('there is no large account')
    const place = { accountId: 'acc_1', sort, listing, row: 1 }
    const plan = { urls: ['http://127.0.0.1'], index: 'orders', places: [place], limit: 20 }
    const [recorded] = await recordSearches(plan)
    const { pathname, searchParams } = new URL(`http://127.0.0.1${recorded?.path}`)
    const page = { accountId: 'acc_1', sort, after: positionBefore(place), limit: 20 }
    const { index, body, ...params } = searchRequest('orders', page)
    expect(pathname).toBe(`/${index}/_search`)
    const complete = { ...params, allow_partial_search_results: 'false' }
    expect(Object.fromEntries(searchParams)).toEqual(complete)
    expect(JSON.parse(String(recorded?.body))).toEqual(body)
  },
)
