import { describe, expect, it } from 'vitest'
import type { LoadRequest } from '../../../../scripts/bench/measuring/load.ts'
import { createRefusals, withoutAllowed } from '../../../../scripts/bench/parts/refusals.ts'
import {
  AS_DEFINED,
  BY_ACCOUNT,
  definitionWith,
  indexVariants,
  sortVariants,
} from '../../../../scripts/bench/parts/settings/indices.ts'
import { searchVariants } from '../../../../scripts/bench/parts/settings/searches.ts'
import { inSmallScenarios } from '../../../../scripts/bench/parts/settings.ts'
import { generateApiKey, isWellFormedKey } from '../../../../src/auth/api-key.ts'
import { ordersDefinition } from '../../../../src/stores/opensearch/indices/index-definition.ts'

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
  function changed(name: string) {
    const found = searchVariants[name]
    if (found === undefined) throw new Error(`there is no search variant "${name}"`)
    const { path, body: text } = found.change(service)
    return { path, body: JSON.parse(`${text}`) }
  }

  it('A variant changes its parameter or part of the body, and keeps the rest', () => {
    const path = '/orders/_search?routing=acc_1'
    expect(changed('no preference').path).toBe(path)
    expect(changed('preference=_local').path).toBe(`${path}&preference=_local`)
    expect(changed('track_total_hits').body).toEqual({ ...body, track_total_hits: true })
    const unbounded = { ...body, query: { bool: { filter: [ofAccount] } } }
    expect(changed('no range beside search_after').body).toEqual(unbounded)
  })
})

describe('index variants', () => {
  it('The baselines are the definition of the service', () => {
    expect(indexVariants[AS_DEFINED]).toEqual({})
    expect(definitionWith({})).toEqual(ordersDefinition)
    expect(definitionWith({ ...sortVariants[BY_ACCOUNT] })).toEqual(ordersDefinition)
  })

  it('A variant changes or removes a setting, or changes a field of the mapping', () => {
    const { mappings } = ordersDefinition
    const status = { type: 'keyword', doc_values: false }
    const fields = { status: { doc_values: false } }
    expect(definitionWith({ settings: { codec: 'best_compression' }, fields })).toEqual({
      settings: { ...ordersDefinition.settings, codec: 'best_compression' },
      mappings: { ...mappings, properties: { ...mappings.properties, status } },
    })
    const unsorted = JSON.stringify(definitionWith({ ...sortVariants['none'] }))
    expect(JSON.parse(unsorted).settings).not.toHaveProperty(['sort.field'])
  })

  it('Large scenarios are split so that each contender runs soon after the baseline', () => {
    const contenders = ['own', 'a', 'b', 'c', 'd', 'e'].map((name) => {
      return { name, measure: async () => ({}) }
    })
    const split = inSmallScenarios({ name: 'large created 20', contenders })
    const names = split.map((one) => one.contenders.map(({ name }) => name).join())
    expect(names).toEqual(['own,a,b,c,d', 'own,e'])
  })
})

describe('part refusals', () => {
  const key = generateApiKey()
  const refusals = createRefusals(key, 8)
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

  it.each([
    ['one token a second and the first', bucket, { 'status 200': 9 }],
    ['the failures at the start of a window', blocked, { 'status 401': 30 }],
  ])('Allowed responses are %s', (_, refusal, failures) => {
    expect(withoutAllowed({ failures }, refusal?.allowed)).toEqual({ failures: {} })
  })

  it.each([
    ['more tokens', bucket, { 'status 200': 10 }],
    ['a token for a blocked address', blocked, { 'status 200': 1 }],
    ['more failures than a window allows', blocked, { 'status 401': 31 }],
    ['a block of an unknown key', unknown, { 'status 429': 1 }],
    ['a broken connection', bucket, { ECONNRESET: 1 }],
  ])('A failure remains where there is %s', (_, refusal, failures) => {
    expect(withoutAllowed({ failures }, refusal?.allowed)).toEqual({ failures })
  })
})
