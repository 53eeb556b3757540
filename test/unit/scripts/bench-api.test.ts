import { describe, expect, it } from 'vitest'
import { apiFigures, apiRatios, renderApi } from '../../../scripts/bench/api/report.ts'
import type { HeatResult, Sample } from '../../../scripts/bench/measuring/race.ts'

function sample(perSecond: number, megabytes?: number): Sample {
  return {
    answers: 10 * perSecond,
    perSecond,
    p50Ms: 1000 / perSecond,
    p99Ms: 5000 / perSecond,
    failures: {},
    cpu: { openSearch: 1e6 / perSecond, redis: 50, api: 2 * perSecond, bench: 1 },
    ...(megabytes !== undefined && { residentBytes: megabytes * 2 ** 20 }),
  }
}

// The second round on a machine that is ten times as slow.
const result: HeatResult = {
  name: 'large created 20',
  samples: {
    straightforward: [sample(50, 200), sample(5, 210)],
    api: [sample(100, 120), sample(10, 140)],
    raw: [sample(200), sample(20)],
    embedded: [sample(400, 90), sample(40, 80)],
  },
}
const comparison = {
  state: 'filled' as const,
  index: { documents: 5_000, bytes: 9e6, segments: 3 },
  queryCacheHits: 0,
  results: [result],
}

describe('the figures of the sides of a case', () => {
  it('are compared within each round', () => {
    expect(apiFigures(result)).toMatchObject({
      case: 'large created 20',
      apiPerRaw: 0.5,
      apiPerStraightforward: 2,
      embeddedPerRaw: 2,
      p50PerRaw: 2,
      raw: { perSecond: 110 },
      api: { perSecond: 55 },
    })
  })

  it('are kept as ratios, and as costs where less is better', () => {
    expect(apiRatios([result])).toEqual({
      ratios: {
        'api÷raw large created 20': 0.5,
        'api÷straightforward large created 20': 2,
        'embedded÷raw large created 20': 2,
      },
      costs: { 'p50 api÷raw large created 20': 2 },
    })
  })

  it('are told side by side', () => {
    const lines = renderApi(comparison, []).split('\n')
    const [rates, costs] = lines.filter((line) => line.startsWith('large created 20'))
    expect(rates?.split(/ {2,}/)).toEqual([
      'large created 20',
      '-',
      '110',
      '55.0',
      '0.50',
      '2.00',
      '2.00',
      '27.5/55.0/110/13.8',
      '138/275/550/68.8',
    ])
    expect(costs?.split(/ {2,}/).at(-1)).toBe('130/205/85.0')
  })

  it('tell the most memory of any round', () => {
    expect(renderApi(comparison, [])).toContain(
      'most resident memory of any case: api 140 MB, straightforward 210 MB, embedded 90.0 MB',
    )
  })
})
