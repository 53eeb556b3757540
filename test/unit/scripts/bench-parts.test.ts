import { describe, expect, it } from 'vitest'
import type { Arrival } from '../../../scripts/bench/measuring/open-loop.ts'
import type { Result } from '../../../scripts/bench/measuring/race.ts'
import {
  arrivalFigures,
  overloadFigures,
  reportOverload,
} from '../../../scripts/bench/parts/overload.ts'
import { latenciesOf, reportRates } from '../../../scripts/bench/parts/rates.ts'
import { createRefusals, withoutAllowed } from '../../../scripts/bench/parts/refusals.ts'
import {
  type Depth,
  depthCases,
  depthNames,
  reportSizes,
  rowsBefore,
  scenarioName,
  sizesUpTo,
} from '../../../scripts/bench/parts/sizes.ts'
import { generateApiKey, isWellFormedKey } from '../../../src/auth/api-key.ts'
import { NULL_UPDATED_KEY, type Sort, sorts } from '../../../src/orders/order-store.ts'
import { sampleOf } from './bench-sample.ts'

const arrivals = (count: number, failure?: string): Arrival[] =>
  Array.from({ length: count }, (_, at) => {
    return { dueAt: at, sentAt: at + (at + 1) / 10, ms: at + 1, failure }
  })

describe('part rates', () => {
  const NAME = 'large created 20'
  /** Two arrivals, one slower than the other. */
  const taking = (p50Ms: number, p99Ms: number, failure?: string) => {
    const arrival = { dueAt: 0, sentAt: 0, ms: p50Ms, failure: undefined }
    return latenciesOf([arrival, { ...arrival, ms: p99Ms, failure }], 1)
  }
  const at = (p50Ms: number) => ({ ...sampleOf(1), p50Ms })
  const report = reportRates({
    connections: 8,
    ceilings: [{ name: NAME, samples: { raw: [sampleOf(800)], api: [sampleOf(600)] } }],
    unloaded: [
      {
        name: `${NAME}, unloaded`,
        samples: { raw: [at(2), at(9), at(2)], api: [at(2.5), at(9.75), at(3)] },
      },
    ],
    arrivals: [
      { name: `${NAME}, at 50%`, samples: { raw: [taking(2, 4)], api: [taking(3, 8)] } },
      {
        name: `${NAME}, at 80%`,
        samples: { raw: [taking(4, 10)], api: [taking(10, 30, 'status 503')] },
      },
    ],
  })

  it('Latencies are percentiles of all arrivals, and the delay before sending is separate', () => {
    const { late, ...figures } = latenciesOf(arrivals(1_000), 2)
    expect(figures).toMatchObject({
      ...{ answers: 1_000, rate: 500, p50Ms: 500, p90Ms: 900, p99Ms: 990, p999Ms: 999 },
      mostMs: 1_000,
    })
    expect(late.p50Ms).toBeCloseTo(50)
    expect(late.p99Ms).toBeCloseTo(99)
  })

  it('The service is compared with the search at the same share of its ceiling', () => {
    expect(report.ratios).toEqual({ [`ceiling api÷raw ${NAME}`]: 0.75 })
    expect(report.costs).toEqual({
      [`p50 api÷raw ${NAME}, unloaded`]: 1.25,
      [`p50 api÷raw ${NAME}, at 50%`]: 1.5,
      [`p99 api÷raw ${NAME}, at 50%`]: 2,
      [`p50 api÷raw ${NAME}, at 80%`]: 2.5,
      [`p99 api÷raw ${NAME}, at 80%`]: 3,
    })
  })

  it('The added latency is the median of the differences of each round', () => {
    expect(report.figures).toMatchObject({ unloaded: [{ addedMs: 0.75 }] })
  })

  it('The report lists failures, and has a row for each contender at and below its ceiling', () => {
    expect(report.failures).toEqual([`! ${NAME}, at 80%, api: status 503, 1 of 2 answers`])
    const rows = report.tables[0]?.split('\n').filter((line) => /, (raw|api), /.test(line))
    expect(rows?.map((line) => line.slice(0, line.indexOf('  '))).join('; ')).toBe(
      ['ceiling', '50%', '80%']
        .flatMap((share) => ['raw', 'api'].map((name) => `${NAME}, ${name}, ${share}`))
        .join('; '),
    )
  })
})

describe('part refusals', () => {
  const key = generateApiKey()
  const refusals = createRefusals(key)
  const [unknown, malformed, bucket, blocked] = refusals
  const addresses = refusals.map(
    ({ requests }) => new Set(requests.map(({ headers }) => headers['x-forwarded-for'])),
  )

  it('Wrong keys use so many addresses that none is blocked, and no kind shares an address', () => {
    expect(addresses.map(({ size }) => size)).toEqual([65_536, 65_536, 1, 1])
    expect(addresses.reduce((all, some) => all.union(some)).size).toBe(2 * 65_536 + 2)
  })

  it('Unknown keys are well-formed, malformed keys are not, and the bucket is that of a valid key', () => {
    const keyOf = (refusal: typeof unknown) =>
      refusal?.requests[0]?.headers['authorization']?.replace('Bearer ', '') ?? ''
    expect([unknown, malformed, blocked].map((one) => isWellFormedKey(keyOf(one)))).toEqual([
      ...[true, false, false],
    ])
    expect(keyOf(bucket)).toBe(key)
  })

  function remaining(refusal: typeof unknown, failures: Record<string, number>) {
    const result: Result = { name: 'one', samples: { api: [sampleOf(100, { failures })] } }
    const { samples } = withoutAllowed(result, refusal?.allowed, 8)
    return Object.values(samples).map(([sample]) => sample?.failures)
  }

  it.each([
    ['one token a second and the first', bucket, { 'status 200': 9 }],
    ['the failures at the start of a window', blocked, { 'status 401': 30 }],
  ])('Allowed answers are %s', (_, refusal, failures) => {
    expect(remaining(refusal, failures)).toEqual([{}])
  })

  it.each([
    ['more tokens', bucket, { 'status 200': 10 }],
    ['a token for a blocked address', blocked, { 'status 200': 1 }],
    ['more failures than a window allows', blocked, { 'status 401': 31 }],
    ['a block of an unknown key', unknown, { 'status 429': 1 }],
    ['a broken connection', bucket, { ECONNRESET: 1 }],
  ])('A failure remains where there is %s', (_, refusal, failures) => {
    expect(remaining(refusal, failures)).toEqual([failures])
  })
})

describe('part sizes', () => {
  const mark = { key: 9, id: 'ord_last' }
  /** Every tenth order, the last ones in the listing, has no updated_at. */
  const listing = {
    at: (place: number) => {
      const key = place < 3_600 ? place : NULL_UPDATED_KEY
      return { key, id: `ord_${String(place).padStart(4, '0')}` }
    },
    lastDated: { key: 3_599, id: 'ord_3599' },
  }
  const cases = depthCases({ id: 'acc_1', size: 4_000, listing: () => listing }, mark)
  const find = (sort: Sort, depth: Depth) =>
    cases.find((one) => one.sort === sort && one.depth === depth)

  it('The pages of a depth follow their places in the listing, and the first page has no cursor', () => {
    expect(cases).toHaveLength(sorts.length * depthNames.length)
    expect(find('created_at_desc', 'first')?.states).toEqual([null])
    const [place] = find('created_at_desc', '50%')?.places ?? []
    expect(place).toMatchObject({ rowsBefore: 2_000, after: { id: 'ord_1999' } })
    expect(place?.following).toEqual(Array.from({ length: 21 }, (_, at) => `ord_${2_000 + at}`))
  })

  it('Only a cursor after an order without updated_at has the mark of the pass', () => {
    const [undated] = find('updated_at_asc', '99%')?.states ?? []
    expect(undated).toMatchObject({ dated: listing.lastDated, nextMark: mark })
    const [dated] = find('updated_at_asc', '50%')?.states ?? []
    expect(dated).toMatchObject({ dated: dated?.after, nextMark: null })
  })

  it.each([1_000, 10_000, 1_000_000])(
    'Pages of %d orders are unique, full, and followed by another page',
    (size) => {
      for (const depth of depthNames) {
        const rows = rowsBefore(size, depth)
        expect(rows.at(-1)).toBeLessThanOrEqual(size - 21)
        expect(new Set(rows).size).toBe(rows.length)
      }
    },
  )

  it('Each size is ten times the one before, up to the largest', () => {
    expect(sizesUpTo(30_000)).toEqual([1_000, 10_000, 30_000])
    const rows = rowsBefore(1_000_000, '99%')
    expect(rows.length).toBeGreaterThan(256)
    expect(rows[0]).toBe(990_000)
  })

  it('Costs are the worst growth with the size of the account, and with the depth', () => {
    const sizes = [1_000, 10_000, 100_000]
    const results = sorts.flatMap((sort) =>
      depthNames.map((depth) => {
        const samples = sizes.flatMap((size, power) => {
          const isSlow = sort === 'updated_at_asc' && depth === '25%' && size === 100_000
          const p50Ms = isSlow ? 6 : (depth === '99%' ? 2 : 1) * (1 + power)
          const sample = { ...sampleOf(1, { openSearch: 900, api: 200 }), p50Ms }
          return [
            [`raw ${size}`, [{ ...sample, p50Ms: p50Ms / 2 }]],
            [`api ${size}`, [sample]],
          ]
        })
        return { name: scenarioName(sort, depth), samples: Object.fromEntries(samples) }
      }),
    )
    const { costs, tables } = reportSizes({ sizes, seconds: 1, queryCacheHits: 0, results })
    expect(costs).toEqual({
      'p50 100000÷1000 created, any depth': 3,
      'p50 100000÷10000 created, any depth': 1.5,
      'p50 99%÷first created, any size': 2,
      'p50 100000÷1000 updated, any depth': 6,
      'p50 100000÷10000 updated, any depth': 3,
      'p50 99%÷first updated, any size': 2,
    })
    expect(tables[0]).toMatch(
      /^created 99% +1\.00\/2\.00 +2\.00\/4\.00 +3\.00\/6\.00 +3\.00 +1\.50$/m,
    )
    expect(tables[0]).toMatch(/^created 99% +900\/200 +900\/200 +900\/200$/m)
  })
})

describe('part overload', () => {
  const mixed = [
    ...arrivals(60),
    ...arrivals(30, 'status 503'),
    ...arrivals(9, 'status 429'),
    ...arrivals(1, 'UND_ERR_SOCKET'),
  ]
  const comparison = {
    case: 'small created 20',
    shed: { cpuMicros: 50, perSecond: 9_000, failures: {} },
    samples: [
      {
        ...{ ceiling: 100, connections: 16, servedMicros: 1_000 },
        flood: {
          ...arrivalFigures(mixed, 1_000),
          cpu: 0.0615,
          memory: { before: 100, most: 130, firstHalf: 120, secondHalf: 121 },
          operationsMs: 20,
          newcomers: { p50Ms: 5, mostMs: 9 },
        },
        calm: { ...arrivalFigures(arrivals(50), 1_000), recoveryMs: 300 },
      },
    ],
  }

  it('Served, shed and limited answers are counted separately, and all others are failures', () => {
    expect(arrivalFigures(mixed, 2_000)).toEqual({
      ...{ offered: 50, served: 60, shed: 30, limited: 9, failures: { UND_ERR_SOCKET: 1 } },
      ...{ servedPerSecond: 30, servedP50Ms: 30, servedP99Ms: 60, shedP99Ms: 30 },
    })
  })

  it('Goodput and the cost of shedding are compared with the ceiling', () => {
    expect(overloadFigures(comparison)).toMatchObject({
      ...{ goodput: 0.6, shedPerServed: 0.05, recoveryMs: 300 },
      shedMicrosInFlood: expect.closeTo(50),
    })
  })

  it('The report lists every answer except 200, 429 and 503', () => {
    const { failures, tables } = reportOverload(comparison)
    expect(failures).toEqual(['! overload, flood 1: UND_ERR_SOCKET, 1 times'])
    expect(tables[0]).toMatch(/^flood +100 +60\.0 +30 +9 +30\.0 +60\.0 +30\.0$/m)
  })
})
