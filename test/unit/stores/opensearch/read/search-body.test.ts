import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noFilters, type OrderFilters } from '../../../../../src/orders/filters/filters.ts'
import { NULL_INSTANT_KEY, type PageQuery } from '../../../../../src/orders/order-store.ts'
import {
  buildLatestWriteSearch,
  buildSearch,
} from '../../../../../src/stores/opensearch/read/search-body.ts'
import { listings, positions } from '../../../../support/orders/arbitraries.ts'

const folder = new URL('../../../../fixtures/search/', import.meta.url)
const fixture = (name: string) => JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'))

const NONE: OrderFilters = noFilters

/** The first page of `acc_1` by creation, unless overridden. */
const query = (changes: Partial<PageQuery> = {}, filters: Partial<OrderFilters> = {}) => ({
  accountId: 'acc_1',
  sort: 'created_at_desc' as const,
  after: null,
  nullsWrittenAfter: null,
  size: 21,
  ...changes,
  filters: { ...NONE, ...filters },
})

const byUpdate = { sort: 'updated_at_asc' } as const
const after = { key: 7000, id: 'ord_7' }
const nullsWrittenAfter = { key: 9000, id: 'ord_9' }

/** The queries by the name of their fixture. */
const cases: Record<string, PageQuery> = {
  'no-filters': query(),
  'sort-updated-at-asc': query(byUpdate),
  status: query({}, { statuses: ['PAID'] }),
  'several-statuses': query({}, { statuses: ['PAID', 'TRIAL'] }),
  'payment-methods': query({}, { paymentMethods: ['PIX', 'MULTIPLE'] }),
  'created-gte': query({}, { created: { gte: 1000 } }),
  'created-lt': query({}, { created: { lt: 2000 } }),
  'created-gte-and-lt': query({}, { created: { gte: 1000, lt: 2000 } }),
  'created-from-the-epoch': query({}, { created: { gte: 0 } }),
  'updated-gte': query({}, { updated: { gte: 1000 } }),
  'updated-lt': query({}, { updated: { lt: 2000 } }),
  'updated-gte-and-lt': query({}, { updated: { gte: 1000, lt: 2000 } }),
  'updated-lt-after-every-date': query({}, { updated: { lt: NULL_INSTANT_KEY + 1 } }),
  'later-filters': query(
    {},
    {
      ...{ paid: { gte: 1000 }, productIds: ['prod_1', 'prod_2'] },
      ...{ customerEmails: ['ana@exemplo.com.br'], customerDocuments: ['12345678909'] },
    },
  ),
  'after-created-at-desc': query({ after }),
  'after-updated-at-asc': query({ ...byUpdate, after }),
  'after-among-the-nulls': query({ ...byUpdate, after: { ...after, key: NULL_INSTANT_KEY } }),
  'nulls-written-after': query({ ...byUpdate, nullsWrittenAfter }),
  'all-together': query(
    { ...byUpdate, after, nullsWrittenAfter, size: 101 },
    {
      statuses: ['PAID', 'REFUNDED'],
      paymentMethods: ['PIX'],
      created: { gte: 1000, lt: 2000 },
      updated: { gte: 3000 },
    },
  ),
}

describe('the search for a page', () => {
  it.each(Object.keys(cases))('the search for %s equals its stored fixture', (name) => {
    expect(buildSearch(cases[name] ?? query())).toStrictEqual(fixture(name))
  })

  it('every stored fixture has a query', () => {
    const stored = readdirSync(folder).map((file) => file.replace('.json', ''))
    expect(new Set(stored)).toEqual(new Set([...Object.keys(cases), 'latest-write']))
  })
})

describe('the search for the last write', () => {
  it('the search for the last write equals its stored fixture', () => {
    expect(buildLatestWriteSearch('acc_1')).toStrictEqual(fixture('latest-write'))
  })
})

const place = fc.option(positions)
const queries: fc.Arbitrary<PageQuery> = fc
  .record({ listing: listings, after: place, nullsWrittenAfter: place, size: fc.nat(101) })
  .map(({ listing, ...query }) => ({ ...listing, ...query }))

function holds(check: (query: PageQuery) => unknown): void {
  const property = fc.property(queries, (query) => {
    check(query) // The return value is no assertion.
  })
  fc.assert(property)
}

describe('every search for a page', () => {
  it('every search requests the page size and counts no total', () => {
    holds((pageQuery) => {
      expect(buildSearch(pageQuery)).toMatchObject({
        size: pageQuery.size,
        track_total_hits: false,
      })
    })
  })

  it('every search is limited to the account', () => {
    holds((pageQuery) => {
      const { filter } = buildSearch(pageQuery).query.bool
      expect(filter[0]).toEqual({ term: { account_id: pageQuery.accountId } })
    })
  })

  it('every search filters without scoring', () => {
    holds((pageQuery) => expect(Object.keys(buildSearch(pageQuery).query.bool)).toEqual(['filter']))
  })

  it('every search sorts by its key, then by id', () => {
    const expected = {
      created_at_desc: [{ created_key: 'desc' }, { id: 'desc' }],
      updated_at_asc: [{ updated_key: 'asc' }, { id: 'asc' }],
    }
    holds((pageQuery) => expect(buildSearch(pageQuery).sort).toEqual(expected[pageQuery.sort]))
  })

  it('every search starts after a position if and only if it has one, and bounds the key by it', () => {
    const bound = {
      created_at_desc: ['created_key', 'lte'],
      updated_at_asc: ['updated_key', 'gte'],
    }
    holds((pageQuery) => {
      const body = buildSearch(pageQuery)
      expect(body.search_after).toEqual(
        pageQuery.after ? [pageQuery.after.key, pageQuery.after.id] : undefined,
      )
      const [field = '', beyond = ''] = bound[pageQuery.sort]
      if (!pageQuery.after) return
      const keyBound = { range: { [field]: { [beyond]: pageQuery.after.key } } }
      expect(body.query.bool.filter).toContainEqual(keyBound)
    })
  })

  it('every search requests whole documents, byte for byte', () => {
    holds((pageQuery) => expect(buildSearch(pageQuery)).not.toHaveProperty('_source'))
  })

  it('every search survives serialisation as JSON', () => {
    holds((pageQuery) => {
      const body = buildSearch(pageQuery)
      expect(JSON.parse(JSON.stringify(body))).toEqual(body)
    })
  })
})
