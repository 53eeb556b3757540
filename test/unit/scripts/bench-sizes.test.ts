import { describe, expect, it } from 'vitest'
import type { Sample } from '../../../scripts/bench/measuring/race.ts'
import {
  createSizedAccounts,
  type SizedAccount,
} from '../../../scripts/bench/orders/sized-accounts.ts'
import { heatName, sideName, sizesUpTo } from '../../../scripts/bench/sizes/compare.ts'
import {
  type Depth,
  depthCases,
  depthNames,
  rowsBefore,
} from '../../../scripts/bench/sizes/depths.ts'
import { renderSizes, sizesCosts } from '../../../scripts/bench/sizes/report.ts'
import { NULL_UPDATED_KEY, type Sort, sorts } from '../../../src/orders/order-store.ts'

const UNTIL = Date.UTC(2026, 0, 1)
const SIZES = [1_000, 4_000]
const sized = createSizedAccounts(SIZES, UNTIL)
const documents = [...sized.bulkLines()].map((lines) => JSON.parse(lines.split('\n')[1] ?? ''))
const [, larger] = sized.accounts as [SizedAccount, SizedAccount]
const mark = { key: UNTIL, id: 'ord_last' }

/** What the documents say the order of a listing is. */
function idsOf({ id }: SizedAccount, sort: Sort): string[] {
  const key = sort === 'created_at_desc' ? 'created_key' : 'updated_key'
  const own = documents.filter(({ account_id }) => account_id === id)
  own.sort((a, b) => a[key] - b[key] || (a.id < b.id ? -1 : 1))
  return (sort === 'created_at_desc' ? own.reverse() : own).map((document) => document.id)
}

describe('accounts of given sizes', () => {
  it('have as many orders as they should, each with an id of its own', () => {
    const byAccount = Map.groupBy(documents, ({ account_id }) => account_id)
    expect(sized.accounts.map(({ id }) => byAccount.get(id)?.length)).toEqual(SIZES)
    expect(new Set(documents.map(({ id }) => id)).size).toBe(5_000)
  })

  it('lie between each other', () => {
    const first = documents.slice(0, 50).map(({ account_id }) => account_id)
    expect(new Set(first).size).toBe(2)
  })

  it.each(sorts)('are listed as their documents say: %s', (sort) => {
    const listing = larger.listing(sort)
    const ids = Array.from({ length: larger.size }, (_, place) => listing.at(place).id)
    expect(ids).toEqual(idsOf(larger, sort))
  })

  it('tell the last order that has a date', () => {
    const listing = larger.listing('updated_at_asc')
    const keys = Array.from({ length: larger.size }, (_, place) => listing.at(place).key)
    const undated = keys.indexOf(NULL_UPDATED_KEY)
    expect(undated).toBeGreaterThan(0)
    expect(listing.lastDated).toEqual(listing.at(undated - 1))
  })

  it('are ten times as large each, up to what is asked for', () => {
    expect(sizesUpTo(1_000_000)).toEqual([1_000, 10_000, 100_000, 1_000_000])
    expect(sizesUpTo(30_000)).toEqual([1_000, 10_000, 30_000])
  })
})

describe('the pages at a depth', () => {
  const cases = depthCases(larger, mark)
  const find = (sort: Sort, depth: Depth) =>
    cases.find((one) => one.sort === sort && one.depth === depth)

  it('are those of both sorts at each depth', () => {
    expect(cases.map(({ sort, depth }) => heatName(sort, depth))).toEqual(
      sorts.flatMap((sort) => depthNames.map((depth) => heatName(sort, depth))),
    )
  })

  it('have the orders that follow in the listing', () => {
    const ids = idsOf(larger, 'created_at_desc')
    for (const { rowsBefore: rows, after, following } of find('created_at_desc', '50%')?.places ??
      []) {
      expect(after?.id).toBe(ids[rows - 1])
      expect(following).toEqual(ids.slice(rows, rows + 21))
    }
  })

  it('begin without a cursor at the first', () => {
    expect(find('created_at_desc', 'first')?.states).toEqual([null])
  })

  it('carry the mark of a pass where they follow an order without a date', () => {
    const { places = [], states = [] } = find('updated_at_asc', '99%') ?? {}
    const undated = states.filter((_, at) => places[at]?.after?.key === NULL_UPDATED_KEY)
    expect(undated.length).toBeGreaterThan(0)
    const { lastDated } = larger.listing('updated_at_asc')
    for (const state of undated) expect(state).toMatchObject({ dated: lastDated, nextMark: mark })
  })

  it('carry the last order as the last with a date where it has one', () => {
    for (const state of find('updated_at_asc', '50%')?.states ?? []) {
      expect(state).toMatchObject({ dated: state?.after, nextMark: null })
    }
  })

  it.each([1_000, 10_000, 1_000_000])('are full and followed by more, of %d orders', (size) => {
    for (const depth of depthNames) {
      const rows = rowsBefore(size, depth)
      expect(rows.at(-1)).toBeLessThanOrEqual(size - 21)
      expect(new Set(rows).size).toBe(rows.length)
    }
  })

  it('are more than the server looks back at, and as deep as they should be', () => {
    const rows = rowsBefore(1_000_000, '99%')
    expect(rows.length).toBeGreaterThan(256)
    expect(rows[0]).toBe(990_000)
  })
})

describe('the figures of sizes', () => {
  const cpu = { openSearch: 900, redis: 50, api: 200, bench: 100 }
  const sample = (p50Ms: number): Sample => {
    return { answers: 9, perSecond: 1, p50Ms, p99Ms: 9, failures: {}, cpu }
  }
  /** A page takes longer the larger the account is, and the last one twice as long as the others. */
  const results = sorts.flatMap((sort) =>
    depthNames.map((depth) => ({
      name: heatName(sort, depth),
      samples: Object.fromEntries(
        [1_000, 10_000, 100_000].flatMap((size, power) => {
          const p50Ms = (depth === '99%' ? 2 : 1) * (1 + power)
          return [
            [sideName('raw', size), [sample(p50Ms / 2)]],
            [sideName('api', size), [sample(p50Ms)]],
          ]
        }),
      ),
    })),
  )
  const comparison = { sizes: [1_000, 10_000, 100_000], seconds: 1, queryCacheHits: 0, results }

  it('hold the largest account against the smallest and the one before it, and the deepest page against the first', () => {
    expect(sizesCosts(comparison)).toEqual({
      'p50 100000÷1000 created, any depth': 3,
      'p50 100000÷10000 created, any depth': 1.5,
      'p50 99%÷first created, any size': 2,
      'p50 100000÷1000 updated, any depth': 3,
      'p50 100000÷10000 updated, any depth': 1.5,
      'p50 99%÷first updated, any size': 2,
    })
  })

  it('are the worst of all depths', () => {
    const slow = heatName('updated_at_asc', '25%')
    const slower = results.map(({ name, samples }) => ({
      name,
      samples: name === slow ? { ...samples, 'api 100000': [sample(6)] } : samples,
    }))
    expect(sizesCosts({ ...comparison, results: slower })).toMatchObject({
      'p50 100000÷1000 created, any depth': 3,
      'p50 100000÷1000 updated, any depth': 6,
    })
  })

  it('are told by depth and size', () => {
    const lines = renderSizes(comparison).split('\n')
    const row = lines.find((line) => line.startsWith('created 99%'))
    expect(row?.split(/ {2,}/)).toEqual([
      'created 99%',
      '1.00/2.00',
      '2.00/4.00',
      '3.00/6.00',
      '3.00',
      '1.50',
    ])
  })
})
