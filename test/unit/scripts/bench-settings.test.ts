import { describe, expect, it } from 'vitest'
import type { LoadRequest } from '../../../scripts/bench/measuring/request.ts'
import {
  BASE,
  definitionCosts,
  definitionOf,
  indexSorts,
  ONE_PER_SORT,
  withPair,
} from '../../../scripts/bench/parts/definitions.ts'
import { timesOf } from '../../../scripts/bench/parts/index-variants.ts'
import {
  inSmallScenarios,
  reportSettings,
  socketPlans,
} from '../../../scripts/bench/parts/settings.ts'
import {
  AS_DEFINED,
  definitionWith,
  indexVariants,
  variantsFor,
} from '../../../scripts/bench/parts/settings-indices.ts'
import {
  AS_THE_SERVICE,
  cborIds,
  searchVariants,
} from '../../../scripts/bench/parts/settings-searches.ts'
import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'
import { sampleOf } from './bench-sample.ts'

const NAME = 'large created 20'
const sample = (openSearch: number) => sampleOf(1e6 / openSearch, { openSearch })

describe('part definitions', () => {
  const { 'sort.field': field, 'sort.order': order, ...unsorted } = ordersDefinition.settings
  const samples = {
    none: [sample(200)],
    account: [sample(100)],
    'account+created': [sample(50)],
    'account+updated': [sample(25)],
  }

  it('The baseline is the definition of the service', () => {
    expect(indexSorts[BASE]).toEqual([[field, order]])
    const settings = { ...unsorted, 'sort.field': [field], 'sort.order': [order] }
    expect(definitionOf(BASE)).toEqual({ ...ordersDefinition, settings })
    expect(definitionOf('none')).toEqual({ ...ordersDefinition, settings: unsorted })
    expect(definitionOf('account+created')).toMatchObject({
      settings: {
        'sort.field': ['account_id', 'created_key', 'id'],
        'sort.order': ['asc', 'desc', 'desc'],
      },
    })
  })

  it('Each definition is compared with that of the service, whose cost is by the best of the others', () => {
    expect(timesOf({ name: NAME, samples }, BASE)).toMatchObject({
      none: { perSecond: 5_000, times: { perSecond: 0.5, p50Ms: 2, openSearchCpu: 2 } },
      account: { times: { perSecond: 1, p50Ms: 1, openSearchCpu: 1 } },
    })
    const name = `OpenSearch CPU account÷best other ${NAME}`
    expect(definitionCosts([{ name: NAME, samples }])).toEqual({ [name]: 4 })
  })

  it('With one index per sort, the index with the sort of the listing answers', () => {
    const answering = (name: string) => withPair({ name, samples }).samples[ONE_PER_SORT]
    expect(answering(NAME)).toEqual(samples['account+created'])
    expect(answering('small updated 100')).toEqual(samples['account+updated'])
  })
})

describe('search variants', () => {
  const ofAccount = { term: { account_id: 'acc_1' } }
  const bound = { range: { created_key: { lte: 5 } } }
  const body = { size: 21, query: { bool: { filter: [ofAccount, bound] } }, search_after: [5] }
  const service: LoadRequest = {
    method: 'POST',
    path: '/orders/_search?routing=acc_1&preference=_primary',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  }
  function variant(name: string) {
    const found = searchVariants[name]
    if (found === undefined) throw new Error(`there is no search variant "${name}"`)
    return found
  }
  function changed(name: string) {
    const { path, headers, body: text } = variant(name).change(service)
    return { path, headers, body: JSON.parse(`${text}`) }
  }

  it('The first variant is the search of the service, and the last repeats it', () => {
    expect(variant(AS_THE_SERVICE).change(service)).toEqual(service)
    expect(Object.values(searchVariants).at(-1)?.change(service)).toEqual(service)
  })

  it('A variant changes its parameter, header or part of the body, and keeps the rest', () => {
    const path = '/orders/_search?routing=acc_1'
    expect(changed('no preference').path).toBe(path)
    expect(changed('preference=_local').path).toBe(`${path}&preference=_local`)
    expect(changed('timeout=2s').path).toBe(`${path}&preference=_primary&timeout=2s`)
    expect(changed('CBOR').headers).toEqual({ ...service.headers, accept: 'application/cbor' })
    expect(changed('track_total_hits').body).toEqual({ ...body, track_total_hits: true })
    const unbounded = { ...body, query: { bool: { filter: [ofAccount] } } }
    expect(changed('no range beside search_after').body).toEqual(unbounded)
  })

  it('Ids are read from the sort values where there are no sources', () => {
    const hits = [{ sort: [9, 'ord_1'] }, { sort: [8, 'ord_2'] }]
    const response = Buffer.from(JSON.stringify({ hits: { hits } }))
    const ids = variant('nothing stored, ids alone').readIds?.(response)
    expect(ids).toEqual(['ord_1', 'ord_2'])
  })

  it('Ids are read from CBOR for any length of the account, and never from within an order', () => {
    const short = Buffer.from('\x63_id\x6bacc_1:ord_1\x66_score', 'latin1')
    const long = Buffer.from(`\x63_id\x78\x1eacc_${'1'.repeat(20)}:ord_2\x66_score`, 'latin1')
    expect(cborIds(Buffer.concat([short, long]))).toEqual(['ord_1', 'ord_2'])
    expect(cborIds(Buffer.from('\x62id\x65ord_3\x67rider_id\x61x', 'latin1'))).toEqual([])
  })
})

describe('index variants', () => {
  it('The baseline is the definition of the service', () => {
    expect(indexVariants[AS_DEFINED]).toEqual({})
    expect(definitionWith({})).toEqual(ordersDefinition)
  })

  it('A variant changes a setting or a field of the mapping, and keeps the rest', () => {
    const settings = { codec: 'best_compression' }
    const { mappings } = ordersDefinition
    const status = { type: 'keyword', doc_values: false }
    expect(definitionWith({ settings, fields: { status: { doc_values: false } } })).toEqual({
      settings: { ...ordersDefinition.settings, ...settings },
      mappings: { ...mappings, properties: { ...mappings.properties, status } },
    })
  })

  it('Every field of a variant exists in the mapping', () => {
    const fields = Object.values(indexVariants).flatMap((variant) =>
      Object.keys(variant.fields ?? {}),
    )
    const known = Object.keys(ordersDefinition.mappings.properties)
    expect(known).toEqual(expect.arrayContaining(fields))
  })

  it('Variants that need more nodes are omitted', () => {
    expect(variantsFor(1)).not.toContain('no replica')
    expect(variantsFor(2)).toEqual(Object.keys(indexVariants))
  })
})

describe('part settings', () => {
  it('No plan has more connections than concurrent requests', () => {
    const plans = socketPlans().map(({ concurrency, sockets }) => [concurrency, sockets.join()])
    expect(plans).toEqual([
      [8, '2,4,8'],
      [64, '2,4,8,16,64'],
    ])
  })

  it('Large scenarios are split so that each contender runs soon after the baseline', () => {
    const contenders = ['own', 'a', 'b', 'c', 'd', 'e'].map((name) => {
      return { name, measure: async () => 0 }
    })
    const split = inSmallScenarios({ name: NAME, contenders })
    expect(split.map((one) => one.contenders.map(({ name }) => name).join())).toEqual([
      'own,a,b,c,d',
      'own,e',
    ])
  })

  it('The report compares with the baseline within each round, and shows the order as written or not', () => {
    const index = { loadSeconds: 10, cpuPerDocument: 50, documents: 9, bytes: 8e6, segments: 1 }
    const own = { [AS_THE_SERVICE]: [sample(100), sample(300)] }
    const { tables, figures } = reportSettings({
      searches: [
        { name: NAME, samples: { ...own, filter_path: [sample(200), sample(900)] } },
        { name: NAME, samples: { [AS_THE_SERVICE]: [sample(400)], CBOR: [sample(200)] } },
      ],
      asWritten: { [AS_THE_SERVICE]: true, filter_path: false },
      indices: [{ name: NAME, samples: { [AS_DEFINED]: [sample(100)], other: [sample(80)] } }],
      loaded: { [AS_DEFINED]: index, other: { ...index, bytes: 4e6 } },
      sockets: [{ name: '8 at a time', samples: { 2: [sample(50)], 8: [sample(100)] } }],
    })
    expect(figures).toMatchObject({
      searches: [{ filter_path: { times: { openSearchCpu: 2.5 } } }, {}],
      indices: [{ other: { times: { openSearchCpu: 0.8 } } }],
      sockets: [{ 8: { times: { openSearchCpu: 2 } } }],
    })
    expect(tables[0]).toMatch(/^filter_path +550 ×2\.50$/m)
    expect(tables[0]).toMatch(/^CBOR +200 ×0\.50$/m)
    expect(tables[0]).toMatch(/^filter_path +changed$/m)
    expect(tables[1]).toMatch(/^other +10\.0 ×1\.00 +50\.0 ×1\.00 +4\.00 ×0\.50 +1\.00 ×1\.00$/m)
    expect(tables[2]).toMatch(/^8 +100 +10000 +0\.100 +0\.500$/m)
  })
})
