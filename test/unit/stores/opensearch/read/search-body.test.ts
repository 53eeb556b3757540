import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OrderFilters } from '../../../../../src/orders/filters.ts'
import { NULL_UPDATED_KEY, type PageQuery } from '../../../../../src/orders/order-store.ts'
import {
  buildLatestWriteSearch,
  buildSearch,
} from '../../../../../src/stores/opensearch/read/search-body.ts'
import { listings, positions } from '../../../../support/orders/arbitraries.ts'

const folder = new URL('../../../../fixtures/search/', import.meta.url)
const fixture = (name: string) => JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'))

const NONE: OrderFilters = { statuses: [], paymentMethods: [], created: {}, updated: {} }

/** The first page of `acc_1` by creation, unless told otherwise. */
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

/** Each query by the name of the fixture that it becomes. */
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
  'updated-lt-after-every-date': query({}, { updated: { lt: NULL_UPDATED_KEY + 1 } }),
  'after-created-at-desc': query({ after }),
  'after-updated-at-asc': query({ ...byUpdate, after }),
  'after-among-the-nulls': query({ ...byUpdate, after: { ...after, key: NULL_UPDATED_KEY } }),
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

describe('the search for a slice', () => {
  it.each(Object.keys(cases))('is the stored one of %s', (name) => {
    expect(buildSearch(cases[name] ?? query())).toStrictEqual(fixture(name))
  })

  it('has a query for every stored one', () => {
    const stored = readdirSync(folder).map((file) => file.replace('.json', ''))
    expect(new Set(stored)).toEqual(new Set([...Object.keys(cases), 'latest-write']))
  })
})

describe('the search for the last write', () => {
  it('is the stored one', () => {
    expect(buildLatestWriteSearch('acc_1')).toStrictEqual(fixture('latest-write'))
  })
})

const place = fc.option(positions)
const queries: fc.Arbitrary<PageQuery> = fc
  .record({ listing: listings, after: place, nullsWrittenAfter: place, size: fc.nat(101) })
  .map(({ listing, ...query }) => ({ ...listing, ...query }))

function holds(check: (query: PageQuery) => unknown): void {
  const property = fc.property(queries, (query) => {
    check(query) // What it returns is not a verdict.
  })
  fc.assert(property)
}

describe('every search for a slice', () => {
  it('is for as many orders as are asked for, and counts no others', () => {
    holds((asked) => {
      expect(buildSearch(asked)).toMatchObject({ size: asked.size, track_total_hits: false })
    })
  })

  it('is within the account', () => {
    holds((asked) => {
      const { filter } = buildSearch(asked).query.bool
      expect(filter[0]).toEqual({ term: { account_id: asked.accountId } })
    })
  })

  it('filters, and scores nothing', () => {
    holds((asked) => expect(Object.keys(buildSearch(asked).query.bool)).toEqual(['filter']))
  })

  it('is sorted by the key of its sort, and by id where keys are equal', () => {
    const expected = {
      created_at_desc: [{ created_key: 'desc' }, { id: 'desc' }],
      updated_at_asc: [{ updated_key: 'asc' }, { id: 'asc' }],
    }
    holds((asked) => expect(buildSearch(asked).sort).toEqual(expected[asked.sort]))
  })

  it('starts after a place if and only if it is told one, and bounds the key by it too', () => {
    const bound = {
      created_at_desc: ['created_key', 'lte'],
      updated_at_asc: ['updated_key', 'gte'],
    }
    holds((asked) => {
      const body = buildSearch(asked)
      expect(body.search_after).toEqual(asked.after ? [asked.after.key, asked.after.id] : undefined)
      const [field = '', beyond = ''] = bound[asked.sort]
      if (!asked.after) return
      const told = { range: { [field]: { [beyond]: asked.after.key } } }
      expect(body.query.bool.filter).toContainEqual(told)
    })
  })

  it('asks for whole documents, which come back byte for byte', () => {
    holds((asked) => expect(buildSearch(asked)).not.toHaveProperty('_source'))
  })

  it('loses nothing on its way as JSON', () => {
    holds((asked) => {
      const body = buildSearch(asked)
      expect(JSON.parse(JSON.stringify(body))).toEqual(body)
    })
  })
})
