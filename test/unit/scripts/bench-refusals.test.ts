import { describe, expect, it } from 'vitest'
import type { Sample } from '../../../scripts/bench/measuring/race.ts'
import { createRefusals, withoutAllowed } from '../../../scripts/bench/refusals/refusals.ts'
import {
  refusalFigures,
  refusalRatios,
  renderRefusals,
} from '../../../scripts/bench/refusals/report.ts'
import { generateApiKey, isWellFormedKey } from '../../../src/auth/api-key.ts'

const key = generateApiKey()
const [unknown, malformed, bucket, blocked] = createRefusals(key)

function sample(perSecond: number, failures: Record<string, number> = {}): Sample {
  const cpu = { openSearch: 0, redis: 10, api: 1e5 / perSecond, bench: 1 }
  return { answers: perSecond, perSecond, p50Ms: 1, p99Ms: 2, failures, cpu }
}

describe('the requests that are refused', () => {
  it.each([
    ['unknown keys', unknown],
    ['malformed keys', malformed],
  ])('come with %s from so many addresses that none of them is blocked', (_what, refusal) => {
    const addresses = refusal?.requests.map(({ headers }) => headers['x-forwarded-for'])
    expect(new Set(addresses).size).toBe(65_536)
    expect(new Set(refusal?.requests.map(({ expectedStatus }) => expectedStatus))).toEqual(
      new Set([401]),
    )
  })

  it('share no address', () => {
    const addresses = [unknown, malformed, bucket, blocked].map(
      (refusal) => new Set(refusal?.requests.map(({ headers }) => headers['x-forwarded-for'])),
    )
    const sizes = addresses.map(({ size }) => size)
    const all = new Set(addresses.flatMap((ones) => [...ones]))
    expect(all.size).toBe(sizes.reduce((total, size) => total + size, 0))
  })

  it('have the form of a key where it is unknown, and not where it is malformed', () => {
    const keyOf = (refusal: typeof unknown) =>
      refusal?.requests[0]?.headers['authorization']?.replace('Bearer ', '') ?? ''
    expect(isWellFormedKey(keyOf(unknown))).toBe(true)
    expect(isWellFormedKey(keyOf(malformed))).toBe(false)
    expect(keyOf(bucket)).toBe(key)
    expect(isWellFormedKey(keyOf(blocked))).toBe(false)
  })
})

describe('what a refusal may be answered with besides', () => {
  const resultOf = (failures: Record<string, number>) => ({
    name: 'some',
    samples: { api: [sample(100, failures)] },
  })
  function leftOf(refusal: typeof unknown, failures: Record<string, number>) {
    const { api: [left] = [] } = withoutAllowed(resultOf(failures), refusal?.allowed, 8).samples
    return left?.failures
  }

  it.each([
    ['a token a second and the first', bucket, { 'status 200': 9 }],
    ['the failures that begin a window anew', blocked, { 'status 401': 30 }],
  ])('is %s', (_what, refusal, failures) => {
    expect(leftOf(refusal, failures)).toEqual({})
  })

  it.each([
    ['more tokens', bucket, { 'status 200': 10 }],
    ['a bucket where the address should be blocked', blocked, { 'status 200': 1 }],
    ['more failures than a window takes', blocked, { 'status 401': 31 }],
    ['a block where nobody should be blocked', unknown, { 'status 429': 1 }],
    ['an answer that is none', bucket, { ECONNRESET: 1 }],
  ])('is not %s', (_what, refusal, failures) => {
    expect(leftOf(refusal, failures)).toEqual(failures)
  })
})

describe('the figures of a refusal', () => {
  const result = {
    name: '401 unknown key',
    samples: { bare: [sample(1000), sample(100)], api: [sample(500), sample(50)] },
  }
  const comparison = { stores: 'embedded', results: [result] }

  it('compare the service with the bare route within each round', () => {
    expect(refusalFigures(result)).toMatchObject({ apiPerBare: 0.5, cpuPerBare: 2 })
  })

  it('are kept under the stores they are of', () => {
    expect(refusalRatios([comparison])).toEqual({ 'api÷bare 401 unknown key, embedded': 0.5 })
  })

  it('are marked where an answer was another', () => {
    const samples = { ...result.samples, api: [sample(500, { 'status 429': 1 }), sample(50)] }
    const text = renderRefusals({ stores: 'embedded', results: [{ ...result, samples }] })
    expect(text).toContain('! 401 unknown key')
  })
})
