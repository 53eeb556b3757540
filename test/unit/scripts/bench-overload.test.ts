import { describe, expect, it } from 'vitest'
import type { Arrival } from '../../../scripts/bench/measuring/open-loop.ts'
import { overloadFailures, overloadFigures } from '../../../scripts/bench/overload/report.ts'
import { figuresOf, type OverloadSample } from '../../../scripts/bench/overload/round.ts'

const arrivals = (count: number, failure?: string): Arrival[] =>
  Array.from({ length: count }, (_, n) => ({ dueAt: n, sentAt: n, ms: n + 1, failure }))

const mixed = [
  ...arrivals(60),
  ...arrivals(30, 'status 503'),
  ...arrivals(9, 'status 429'),
  ...arrivals(1, 'UND_ERR_SOCKET'),
]

function sampleOf(flood: readonly Arrival[]): OverloadSample {
  return {
    ceiling: 100,
    connections: 16,
    servedMicros: 1_000,
    flood: {
      ...figuresOf(flood, 1_000),
      cpu: 0.0615,
      memory: { before: 100, most: 130, firstHalf: 120, secondHalf: 121 },
      operationsMs: 20,
      newcomers: { p50Ms: 5, mostMs: 9 },
    },
    calm: { ...figuresOf(arrivals(50), 1_000), recoveryMs: 300 },
  }
}

const comparison = (flood: readonly Arrival[]) => ({
  case: 'small created 20',
  shed: { cpuMicros: 50, perSecond: 9_000, failures: {} },
  samples: [sampleOf(flood)],
})

describe('the figures of the overload', () => {
  it('count served, shed and limited apart, and all else as failures', () => {
    expect(figuresOf(mixed, 2_000)).toMatchObject({
      offered: 50,
      served: 60,
      shed: 30,
      limited: 9,
      failures: { UND_ERR_SOCKET: 1 },
      servedPerSecond: 30,
      servedP50Ms: 30,
      servedP99Ms: 60,
      shedP99Ms: 30,
    })
  })

  it('hold what was served and what shedding costs against the ceiling', () => {
    expect(overloadFigures(comparison(mixed))).toMatchObject({
      goodput: 0.6,
      shedPerServed: 0.05,
      shedMicrosInFlood: expect.closeTo(50),
      recoveryMs: 300,
    })
  })

  it('name every answer that is none of 200, 429 and 503', () => {
    expect(overloadFailures(comparison(mixed))).toEqual([
      '! overload, flood 1: UND_ERR_SOCKET, 1 times',
    ])
    expect(overloadFailures(comparison(arrivals(10, 'status 503')))).toEqual([])
  })
})
