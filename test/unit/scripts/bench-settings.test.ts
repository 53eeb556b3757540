import { describe, expect, it } from 'vitest'
import type { LoadRequest } from '../../../scripts/bench/measuring/generator.ts'
import type { Sample } from '../../../scripts/bench/measuring/race.ts'
import { inSmallHeats } from '../../../scripts/bench/settings/heats.ts'
import {
  AS_DEFINED,
  definitionWith,
  indexVariants,
  variantsFor,
} from '../../../scripts/bench/settings/indices.ts'
import { renderSettings, settingsFigures } from '../../../scripts/bench/settings/report.ts'
import {
  AS_THE_SERVICE,
  cborIds,
  searchVariants,
} from '../../../scripts/bench/settings/searches.ts'
import { socketPlans } from '../../../scripts/bench/settings/sockets.ts'
import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'

const bound = { range: { created_key: { lte: 5 } } }
const ofAccount = { term: { account_id: 'acc_1' } }
const service: LoadRequest = {
  method: 'POST',
  path: '/orders/_search?routing=acc_1&preference=_primary',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(
    JSON.stringify({
      size: 21,
      query: { bool: { filter: [ofAccount, bound] } },
      search_after: [5],
    }),
  ),
}

function variant(name: string) {
  const found = searchVariants[name]
  if (found === undefined) throw new Error(`there is no search variant "${name}"`)
  return found
}

function changed(name: string) {
  const { path, headers, body } = variant(name).change(service)
  return { path, headers, body: JSON.parse(`${body}`) }
}

describe('the ways to ask that are compared', () => {
  it('are compared with the search of the service, byte for byte', () => {
    expect(variant(AS_THE_SERVICE).change(service)).toEqual(service)
  })

  it('end with the same once more, which tells what is noise', () => {
    expect(Object.values(searchVariants).at(-1)?.change(service)).toEqual(service)
  })

  it('leave a parameter out', () => {
    expect(changed('no preference').path).toBe('/orders/_search?routing=acc_1')
  })

  it('set another parameter, and keep the rest', () => {
    expect(changed('preference=_local').path).toBe(
      '/orders/_search?routing=acc_1&preference=_local',
    )
    expect(changed('timeout=2s').path).toBe(
      '/orders/_search?routing=acc_1&preference=_primary&timeout=2s',
    )
  })

  it('set another header, and keep the rest', () => {
    expect(changed('CBOR').headers).toEqual({ ...service.headers, accept: 'application/cbor' })
  })

  it('set something of the body, and keep the rest', () => {
    expect(changed('track_total_hits').body).toEqual({
      ...JSON.parse(`${service.body}`),
      track_total_hits: true,
    })
  })

  it('leave out the range beside search_after, and nothing else', () => {
    expect(changed('no range beside search_after').body).toEqual({
      size: 21,
      query: { bool: { filter: [ofAccount] } },
      search_after: [5],
    })
  })
})

describe('the orders of an answer', () => {
  it('are read from where they stand when there are no sources', () => {
    const hits = [{ sort: [9, 'ord_1'] }, { sort: [8, 'ord_2'] }]
    const answer = Buffer.from(JSON.stringify({ hits: { hits } }))
    expect(variant('nothing stored, ids alone').readIds?.(answer)).toEqual(['ord_1', 'ord_2'])
  })

  const short = Buffer.from('\x63_id\x6bacc_1:ord_1\x66_score', 'latin1')
  const long = Buffer.from(`\x63_id\x78\x1eacc_${'1'.repeat(20)}:ord_2\x66_score`, 'latin1')

  it('are read from CBOR, whatever the length of the account', () => {
    expect(cborIds(Buffer.concat([short, long]))).toEqual(['ord_1', 'ord_2'])
  })

  it('are not read from an id within an order', () => {
    expect(cborIds(Buffer.from('\x62id\x65ord_3\x67rider_id\x61x', 'latin1'))).toEqual([])
  })
})

describe('the indices that are compared', () => {
  it('are compared with the one that the service makes', () => {
    expect(indexVariants[AS_DEFINED]).toEqual({})
    expect(definitionWith({})).toEqual(ordersDefinition)
  })

  it('change a setting, and keep the rest', () => {
    expect(definitionWith({ settings: { codec: 'best_compression' } })).toEqual({
      ...ordersDefinition,
      settings: { ...ordersDefinition.settings, codec: 'best_compression' },
    })
  })

  it('change what the mapping says of a field, and keep the rest', () => {
    const { mappings } = ordersDefinition
    expect(definitionWith({ fields: { status: { doc_values: false } } })).toEqual({
      ...ordersDefinition,
      mappings: {
        ...mappings,
        properties: { ...mappings.properties, status: { type: 'keyword', doc_values: false } },
      },
    })
  })

  it.each(Object.entries(indexVariants))(
    'name fields that there are: %s',
    (_name, { fields = {} }) => {
      expect(Object.keys(ordersDefinition.mappings.properties)).toEqual(
        expect.arrayContaining(Object.keys(fields)),
      )
    },
  )

  it('are without those that differ only on more nodes', () => {
    expect(variantsFor(1)).not.toContain('no replica')
    expect(variantsFor(2)).toEqual(Object.keys(indexVariants))
  })
})

it('are never more connections than requests, which would not be used', () => {
  expect(socketPlans()).toEqual([
    ...[2, 4, 8].map((sockets) => ({ atATime: 8, sockets })),
    ...[2, 4, 8, 16, 64].map((sockets) => ({ atATime: 64, sockets })),
  ])
})

it('are each measured soon after what they are compared with', () => {
  const heat = { name: 'large created 20', sides: ['own', 'a', 'b', 'c', 'd', 'e'] }
  expect(inSmallHeats(heat)).toEqual([
    { name: 'large created 20', sides: ['own', 'a', 'b', 'c', 'd'] },
    { name: 'large created 20', sides: ['own', 'e'] },
  ])
})

describe('what is told of the settings', () => {
  const sample = (cpu: number): Sample => ({
    answers: 10,
    perSecond: 1e6 / cpu,
    p50Ms: cpu / 100,
    p99Ms: cpu / 10,
    failures: {},
    cpu: { openSearch: cpu, redis: 0, api: 0, bench: 0 },
  })
  const index = { loadSeconds: 10, cpuPerDocument: 50, documents: 9, bytes: 8e6, segments: 1 }
  const compared = {
    searches: [
      {
        name: 'large created 20',
        samples: {
          [AS_THE_SERVICE]: [sample(100), sample(300)],
          filter_path: [sample(200), sample(900)],
        },
      },
      {
        name: 'large created 20',
        samples: { [AS_THE_SERVICE]: [sample(400)], CBOR: [sample(200)] },
      },
    ],
    asWritten: { [AS_THE_SERVICE]: true, filter_path: false },
    indices: [
      { name: 'large created 20', samples: { [AS_DEFINED]: [sample(100)], other: [sample(80)] } },
    ],
    loaded: { [AS_DEFINED]: index, other: { ...index, bytes: 4e6 } },
    sockets: [{ name: '8 at a time', samples: { 2: [sample(50)], 8: [sample(100)] } }],
  }

  it('compares within each round with what the service does', () => {
    const { searches, indices, sockets } = settingsFigures(compared)
    expect(searches[0]).toMatchObject({ filter_path: { times: { openSearchCpu: 2.5 } } })
    expect(indices[0]).toMatchObject({ other: { times: { openSearchCpu: 0.8 } } })
    expect(sockets[0]).toMatchObject({ 8: { times: { openSearchCpu: 2 } } })
  })

  it('is a table of searches, one of indices and one of connections', () => {
    const [searches, indices, sockets] = renderSettings(compared)
    expect(searches).toMatch(/^filter_path +550 ×2\.50$/m)
    expect(searches).toMatch(/^CBOR +200 ×0\.50$/m)
    expect(searches).toMatch(/^filter_path +otherwise$/m)
    expect(indices).toMatch(/^other +10\.0 ×1\.00 +50\.0 ×1\.00 +4\.00 ×0\.50 +1\.00 ×1\.00$/m)
    expect(sockets).toMatch(/^8 +100 +10000 +1\.00 +10\.0$/m)
  })
})
