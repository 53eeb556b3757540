import { describe, expect, it } from 'vitest'
import type { Arrival } from '../../../scripts/bench/measuring/open-loop.ts'
import type { Sample } from '../../../scripts/bench/measuring/race.ts'
import { latenciesOf, summarizeLatencies } from '../../../scripts/bench/rates/latencies.ts'
import {
  addedMs,
  rateCosts,
  rateFailures,
  rateRatios,
  renderRates,
} from '../../../scripts/bench/rates/report.ts'

const NAME = 'large created 20'

/** A thousand that take 1 to 1,000 ms, each sent a tenth of that late. */
const thousand: Arrival[] = Array.from({ length: 1_000 }, (_, at) => ({
  dueAt: at,
  sentAt: at + (at + 1) / 10,
  ms: at + 1,
  failure: undefined,
}))

function closedSample(perSecond: number, p50Ms: number): Sample {
  const cpu = { openSearch: 0, redis: 0, api: 0, bench: 0 }
  return { answers: 100, perSecond, p50Ms, p99Ms: 3 * p50Ms, failures: {}, cpu }
}

/** Two arrivals, one of which took longer. */
function taking(p50Ms: number, p99Ms: number, failure?: string) {
  const arrival = { dueAt: 0, sentAt: 0, ms: p50Ms, failure: undefined }
  return latenciesOf([arrival, { ...arrival, ms: p99Ms, failure }], 1)
}

const comparison = {
  connections: 8,
  ceilings: [
    { name: NAME, samples: { raw: [closedSample(800, 9)], api: [closedSample(600, 12)] } },
  ],
  unloaded: [
    {
      name: NAME,
      samples: {
        raw: [closedSample(500, 2), closedSample(500, 9), closedSample(500, 2)],
        api: [closedSample(400, 2.5), closedSample(400, 9.75), closedSample(400, 3)],
      },
    },
  ],
  arrivals: [
    { name: NAME, share: 0.5 as const, samples: { raw: [taking(2, 4)], api: [taking(3, 8)] } },
    {
      name: NAME,
      share: 0.8 as const,
      samples: { raw: [taking(4, 10)], api: [taking(10, 30, 'status 503')] },
    },
  ],
}

describe('the latencies of arrivals', () => {
  it('are told by how many of them take no longer', () => {
    expect(latenciesOf(thousand, 2)).toMatchObject({
      answers: 1_000,
      rate: 500,
      p50Ms: 500,
      p90Ms: 900,
      p99Ms: 990,
      p999Ms: 999,
      mostMs: 1_000,
    })
  })

  it('tell apart how late they were sent', () => {
    const { late } = latenciesOf(thousand, 2)
    expect(late.p50Ms).toBeCloseTo(50)
    expect(late.p99Ms).toBeCloseTo(99)
  })

  it('come down to the median of the rounds, and the slowest of all of them', () => {
    expect(summarizeLatencies([taking(1, 2), taking(9, 20), taking(3, 4)])).toMatchObject({
      answers: 6,
      p50Ms: 3,
      p99Ms: 4,
      mostMs: 20,
    })
  })

  it('keep every failure', () => {
    const { failures } = summarizeLatencies([
      taking(1, 1, 'status 503'),
      taking(1, 1, 'status 503'),
    ])
    expect(failures).toEqual({ 'status 503': 2 })
  })
})

describe('the figures at a rate', () => {
  it('tell what the service adds in a round, not between the medians', () => {
    expect(comparison.unloaded.map(addedMs)).toEqual([0.75])
  })

  it('hold the ceiling of the service against that of the search', () => {
    expect(rateRatios(comparison)).toEqual({ [`ceiling api÷raw ${NAME}`]: 0.75 })
  })

  it('hold the latencies against those of the search at the same share of its ceiling', () => {
    expect(rateCosts(comparison)).toEqual({
      [`p50 api÷raw ${NAME}, unloaded`]: 1.25,
      [`p50 api÷raw ${NAME}, at 50%`]: 1.5,
      [`p99 api÷raw ${NAME}, at 50%`]: 2,
      [`p50 api÷raw ${NAME}, at 80%`]: 2.5,
      [`p99 api÷raw ${NAME}, at 80%`]: 3,
    })
  })

  it('name what was not answered as expected', () => {
    expect(rateFailures(comparison)).toEqual([`! ${NAME} at 80%, api: status 503, 1 of 2 answers`])
  })

  it('are a row for each side at its ceiling and below it', () => {
    const lines = renderRates(comparison).split('\n')
    const rows = lines.filter((line) => /, (raw|api), /.test(line))
    expect(rows.map((line) => line.slice(0, line.indexOf('  ')))).toEqual([
      `${NAME}, raw, ceiling`,
      `${NAME}, api, ceiling`,
      `${NAME}, raw, 50%`,
      `${NAME}, api, 50%`,
      `${NAME}, raw, 80%`,
      `${NAME}, api, 80%`,
    ])
  })
})
