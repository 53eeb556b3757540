import { describe, expect, it } from 'vitest'
import { noFilters } from '../../../../../src/orders/filters/filters.ts'
import {
  NULL_INSTANT_KEY,
  type PageQuery,
  type Position,
  type Sort,
} from '../../../../../src/orders/order-store.ts'
import { createPageWindows } from '../../../../../src/stores/opensearch/read/page-windows.ts'

const NOW = Date.UTC(2026, 5, 1)
const MINUTE = 60_000
const SIZE = 20
const START = NOW - 365 * 24 * 60 * MINUTE

const query = (sort: Sort, changes: Partial<PageQuery> = {}): PageQuery => ({
  accountId: 'acc_1',
  sort,
  filters: noFilters,
  after: null,
  nullsWrittenAfter: null,
  size: SIZE,
  ...changes,
})
const at = (key: number): Position => ({ key, id: 'ord_1' })

/** A full page of one order a minute, from a key on, in the direction of the sort. */
const pageFrom = (key: number, sort: Sort, everyMs = MINUTE): Position[] =>
  Array.from({ length: SIZE }, (_, index) =>
    at(sort === 'created_at_desc' ? key - index * everyMs : key + index * everyMs),
  )

/** Windows that have read one first page. */
function learned(sort: Sort, rows = pageFrom(START, sort)) {
  const windows = createPageWindows(() => NOW)
  windows.learn(query(sort), rows)
  return windows
}

describe('the window of a page', () => {
  it('has no bound before a page was read', () => {
    const windows = createPageWindows(() => NOW)
    expect(windows.boundOf(query('created_at_desc'))).toBeNull()
    expect(windows.boundOf(query('created_at_desc', { after: at(START) }))).toBeNull()
  })

  it('spans a few pages in the direction of the sort', () => {
    const later = learned('updated_at_asc').boundOf(query('updated_at_asc', { after: at(START) }))
    const earlier = learned('created_at_desc').boundOf(
      query('created_at_desc', { after: at(START) }),
    )
    expect(later).toBeGreaterThan(START + SIZE * MINUTE)
    expect(later).toBeLessThan(START + 10 * SIZE * MINUTE)
    expect(earlier).toBeLessThan(START - SIZE * MINUTE)
    expect(earlier).toBeGreaterThan(START - 10 * SIZE * MINUTE)
  })

  it('of a first page begins where the last first page did', () => {
    expect(learned('updated_at_asc').boundOf(query('updated_at_asc'))).toBeGreaterThan(
      START + SIZE * MINUTE,
    )
  })

  it('grows with the size of the page', () => {
    const windows = learned('updated_at_asc')
    const [of20, of100] = [20, 100].map((size) =>
      windows.boundOf(query('updated_at_asc', { size, after: at(START) })),
    )
    expect((of100 ?? 0) - START).toBe(5 * ((of20 ?? 0) - START))
  })

  it.each<[string, PageQuery]>([
    ['another account', query('updated_at_asc', { accountId: 'acc_2', after: at(START) })],
    ['the other sort', query('created_at_desc', { after: at(START) })],
    [
      'a filter',
      query('updated_at_asc', { filters: { ...noFilters, statuses: ['PAID'] }, after: at(START) }),
    ],
    ['a later pass', query('updated_at_asc', { nullsWrittenAfter: at(START), after: at(START) })],
    ['the end of the listing', query('updated_at_asc', { after: at(NOW - MINUTE) })],
    ['the undated tail', query('updated_at_asc', { after: at(NULL_INSTANT_KEY) })],
  ])('there is none for %s', (_what, other) => {
    expect(learned('updated_at_asc').boundOf(other)).toBeNull()
  })

  it.each<[string, Position[]]>([
    ['a page that is not full', pageFrom(START, 'updated_at_asc').slice(1)],
    [
      'a page that ends in the undated tail',
      [...pageFrom(START, 'updated_at_asc').slice(1), at(NULL_INSTANT_KEY)],
    ],
    ['a sparse listing', pageFrom(START, 'updated_at_asc', 600 * MINUTE)],
    ['an empty page', []],
  ])('nothing is learned from %s', (_what, rows) => {
    const windows = learned('updated_at_asc', rows)
    expect(windows.boundOf(query('updated_at_asc', { after: at(START) }))).toBeNull()
  })

  it('is dropped after a page that was not full up to it', () => {
    const windows = learned('updated_at_asc')
    windows.forget(query('updated_at_asc'))
    expect(windows.boundOf(query('updated_at_asc', { after: at(START) }))).toBeNull()
  })

  it('of a first page begins there again once a deeper page was full', () => {
    const windows = learned('updated_at_asc')
    windows.forget(query('updated_at_asc'))
    const deep = at(START + 1000 * MINUTE)
    windows.learn(
      query('updated_at_asc', { after: deep }),
      pageFrom(deep.key + MINUTE, 'updated_at_asc'),
    )
    expect(windows.boundOf(query('updated_at_asc'))).toBeLessThan(deep.key)
  })

  it('orders with the same key have a bound beyond it', () => {
    const windows = learned('updated_at_asc', pageFrom(START, 'updated_at_asc', 0))
    expect(windows.boundOf(query('updated_at_asc', { after: at(START) }))).toBeGreaterThan(START)
  })
})
