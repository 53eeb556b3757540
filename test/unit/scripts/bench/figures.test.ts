import { describe, expect, it } from 'vitest'
import { redisSeconds, statMicros } from '../../../../scripts/bench/measuring/cpu.ts'
import { loadFigures } from '../../../../scripts/bench/measuring/load.ts'
import { differencePer, loopContender, race } from '../../../../scripts/bench/measuring/race.ts'
import { shortenedTo } from '../../../../scripts/bench/parts/api/contenders.ts'
import { addedLatencies, memoryCosts } from '../../../../scripts/bench/parts/api.ts'
import { outcomeFigures, reportOverload } from '../../../../scripts/bench/parts/overload.ts'
import { arrivalFigures } from '../../../../scripts/bench/parts/rates.ts'
import { accountSizes } from '../../../../scripts/bench/parts/reindex.ts'
import { otherSizes, sizeCosts } from '../../../../scripts/bench/parts/sizes.ts'
import { misreported } from '../../../../scripts/bench/parts/workers.ts'
import {
  failuresOf,
  recordedOf,
  renderSection,
  type Sample,
} from '../../../../scripts/bench/report.ts'
import { median, medianRatio, percentile, sum } from '../../../harness/statistics.ts'

const { signal } = new AbortController()

/** Requests of 1 ms, 2 ms and so on, each sent later by a tenth of that. */
const outcomes = (count: number, failure?: string) =>
  Array.from({ length: count }, (_, at) => {
    return { dueAt: at, sentAt: at + (at + 1) / 10, ms: at + 1, failure }
  })

describe('percentiles and medians', () => {
  it.each([
    [0, 1],
    [0.5, 50],
    [0.99, 99],
    [0.991, 100],
    [1, 100],
  ])('A percentile at %d of 1 to 100 is the value %d, without interpolation', (share, value) => {
    const sorted = Float64Array.from({ length: 100 }, (_, at) => at + 1)
    expect(percentile(sorted, share)).toBe(value)
  })

  it.each([
    [[3], 3],
    [[9, 1, 5], 5],
    [[10, 1, 2, 4], 3],
    [[100, 20, 3], 20],
  ])('The median of %j is %d, and its argument keeps its order', (values, value) => {
    const before = [...values]
    expect(median(values)).toBe(value)
    expect(values).toEqual(before)
  })

  it('There is no percentile and no median of no values', () => {
    expect([percentile([], 0.5), median([])]).toEqual([Number.NaN, Number.NaN])
  })

  it('A ratio of two contenders pairs the values of each round', () => {
    expect(medianRatio([50, 5, 50], [100, 10, 100])).toBe(0.5)
    expect(medianRatio([1, 20, 30], [10, 20, 10])).toBe(1) // The ratio of the medians is 2.
  })
})

describe('figures of requests', () => {
  it('Percentiles are those of all requests, and failures count by kind', () => {
    const all = [...outcomes(999), ...outcomes(1, 'status 503')]
    const figures = { answers: 1_000, perSecond: 500, p50Ms: 499, p99Ms: 989 }
    expect(loadFigures(all, 2_000)).toEqual({ ...figures, failures: { 'status 503': 1 } })
  })

  it('The delay before sending is separate from the latency', () => {
    const latencies = { p50Ms: 500, p90Ms: 900, p99Ms: 990, p999Ms: 999, maxMs: 1_000 }
    const figures = arrivalFigures(outcomes(1_000), 2)
    expect(figures).toMatchObject({ ...latencies, lateMs: expect.closeTo(99) })
  })

  it('Served, shed and limited requests are separate, and all others are failures', () => {
    const shed = outcomes(30, 'status 503')
    const others = [...outcomes(9, 'status 429'), ...outcomes(1, 'UND_ERR_SOCKET')]
    expect(outcomeFigures([...outcomes(60), ...shed, ...others], 2_000)).toEqual({
      ...{ answers: 100, served: 60, shed: 30, limited: 9, failures: { UND_ERR_SOCKET: 1 } },
      ...{ perSecond: 30, p50Ms: 30, p99Ms: 60, shedP99Ms: 30 },
    })
  })

  it('CPU time for each response is the difference of two readings by the number of responses', () => {
    const [before, after] = [{ processMicros: 500 }, { processMicros: 2_500 }]
    expect(differencePer(10, before, after)).toEqual({ processMicros: 200 })
  })

  it('CPU time of Redis is user and system time, without that of its children', () => {
    const own = 'used_cpu_sys:1.5\r\nused_cpu_user:2.25'
    const info = `${own}\r\nused_cpu_sys_children:100\r\nused_cpu_user_children:100`
    expect(redisSeconds(info)).toBe(3.75)
  })

  it('CPU time is parsed from a stat line although the process name has spaces and parentheses', () => {
    const stat = `42 (node (1) a) S 7 42 42 0 -1 4194560 5 0 0 0 150 50 9 9 20 0 11 ${'0 '.repeat(30)}`
    expect(statMicros(stat)).toBe(2_000_000)
  })

  it('Metrics that miss the CPU time of a process are a failure, unless the kernel has no figures', () => {
    const failure = '! two: /metrics has 0.55 of the CPU time of its processes'
    const shares = [
      ['one', 1.02],
      ['two', 0.55],
      ['unknown', Number.NaN],
    ] as const
    expect(misreported(shares)).toEqual([failure])
  })
})

describe('race', () => {
  it('Contenders alternate in every scenario, and every other round reverses their sequence', async () => {
    const order: string[] = []
    const measure = (name: string) => async () => ({ answers: order.push(name) })
    const scenarios = ['20', '100'].map((name) => {
      const contenders = ['raw', 'api'].map((one) => ({
        name: one,
        measure: measure(`${one} ${name}`),
      }))
      return { name, contenders }
    })
    const context = { options: { rounds: 2 }, signal, log() {} } as never
    const [first] = await race(scenarios, context)
    expect(order.join()).toBe('raw 20,api 20,raw 100,api 100,api 20,raw 20,api 100,raw 100')
    expect(first?.samples['raw']).toEqual([{ answers: 1 }, { answers: 6 }])
  })

  it('A loop measures CPU time and memory of the process behind it, without the warm-up', async () => {
    let answers = 0
    const loop = async () => {
      answers += 10
      return outcomes(10)
    }
    const server = {
      cpuMicros: async () => 50 * answers,
      residentBytes: async () => answers * 2 ** 20,
    }
    const context = { options: { seconds: 1 }, readCpu: async () => ({}), signal } as never
    const plan = { name: 'api', client: { loop } as never, requests: [], server }
    const sample = await loopContender(context, plan).measure()
    expect(sample).toMatchObject({ answers: 10, processMicros: 50, megabytes: 20 })
  })
})

describe('report', () => {
  // The second round runs on a machine that is ten times slower.
  const raw: Sample[] = [{ perSecond: 200 }, { perSecond: 20 }]
  const api: Sample[] = [
    { perSecond: 100, answers: 10, megabytes: 120, failures: { 'status 503': 2 } },
    { perSecond: 30, answers: 10, megabytes: 140, failures: { 'status 503': 1, ECONNRESET: 1 } },
  ]
  const result = { name: 'large created 20', samples: { raw, api } }
  const ratio = { name: 'api÷raw', of: 'api', per: 'raw', figure: 'perSecond' } as const
  const cost = { ...ratio, name: 'raw÷api', of: 'raw', per: 'api', isCost: true }
  const section = { title: 'Pages', results: [result], base: 'raw', ratios: [ratio, cost] }

  it('The history records the ratios of each scenario and those of the part', () => {
    const sections = [{ ...section, suffix: ', embedded' }]
    expect(recordedOf({ sections, recorded: { costs: { own: 1 } } })).toEqual({
      ratios: { 'api÷raw large created 20, embedded': 1 },
      costs: { 'raw÷api large created 20, embedded': expect.closeTo(1.333), own: 1 },
    })
  })

  it('The failures of all rounds are listed by contender and kind', () => {
    expect(failuresOf({ sections: [section], failures: ['! another'] })).toEqual([
      '! large created 20, api: status 503, 3 of 20 responses',
      '! large created 20, api: ECONNRESET, 1 of 20 responses',
      '! another',
    ])
  })

  it('A table has the figures that were measured, compared with the base, and marks failures', () => {
    expect(renderSection(section)).toBe(`Pages

                                 /s   MB
------------------  ---  ----------  ---
! large created 20  raw         110    -
                    api  65.0 ×1.00  140`)
  })
})

describe('costs', () => {
  it('What a process adds to the raw search is the difference in each round', () => {
    const p50s = (...values: number[]) => values.map((p50Ms) => ({ p50Ms }))
    // The second round runs on a machine that is busy.
    const samples = { raw: p50s(2, 20, 2), api: p50s(3, 25, 4), 'bare proxy': p50s(2.5, 20, 2.5) }
    expect(addedLatencies([{ name: 'large created 20', samples }])).toEqual({
      'added p50 ms api−raw large created 20, unloaded': 2,
      'added p50 ms bare proxy−raw large created 20, unloaded': 0.5,
    })
  })

  it('The memory of a service is its greatest of all cases and rounds', () => {
    const result = (name: string, ...values: number[]) => {
      const samples = values.map((megabytes) => ({ megabytes }))
      return { name, samples: { api: samples, embedded: samples.slice(0, 1) } }
    }
    const results = [result('large created 20', 150, 162), result('large created 100', 155, 140)]
    expect(memoryCosts(results)).toEqual({ 'MB api, any case': 162, 'MB embedded, any case': 155 })
  })

  it('The bare proxy returns as many bytes as the page of the service', () => {
    const page = { method: 'GET', path: '/v1/orders', headers: {}, expectedBytes: 28_000 } as const
    const proxied = { ...page, path: '/7', expectedBytes: 41_000 }
    expect(shortenedTo([page], [proxied])).toEqual([{ ...page, path: '/7/28000' }])
  })

  it('Sizes are compared by the worst depth, and depths by the worst size', () => {
    const scenario = (name: string, p50s: readonly number[]) => {
      const samples = p50s.flatMap((p50Ms, at) => {
        const size = [100, 1_000, 5_000][at]
        // The raw search grows as the first page does.
        return [
          [`api ${size}`, [{ p50Ms }]],
          [`raw ${size}`, [{ p50Ms: (at + 1) / 2 }]],
        ]
      })
      return { name, samples: Object.fromEntries(samples) }
    }
    const results = ['created', 'updated'].flatMap((sort) => [
      scenario(`${sort} first`, [1, 2, 3]),
      scenario(`${sort} 99%`, [2, 2, sort === 'updated' ? 12 : 3]),
    ])
    expect(sizeCosts([100, 1_000, 5_000], results)).toEqual({
      'p50 5000÷100 created, any depth': 3,
      'p50 5000÷1000 created, any depth': 1.5,
      'p50 5000÷100 created, first page': 3,
      'p50 99%÷first created, any size': 2,
      'p50 api÷raw 5000÷100 created, any depth': 1,
      'p50 5000÷100 updated, any depth': 6,
      'p50 5000÷1000 updated, any depth': 6,
      'p50 5000÷100 updated, first page': 3,
      'p50 99%÷first updated, any size': 4,
      'p50 api÷raw 5000÷100 updated, any depth': 2,
    })
  })

  it('Other accounts fill an index up to its number of orders', () => {
    expect(otherSizes([100, 1_000], 3_600)).toEqual([1_000, 1_000, 500])
    expect(otherSizes([100, 1_000], 1_000)).toEqual([])
  })

  it('The orders of a reindex are of accounts of every size', () => {
    const sizes = accountSizes(30_000, 10_000)
    expect(sum(sizes)).toBe(30_000)
    expect(sizes.filter((size) => size === 1_000)).toHaveLength(10)
    expect(sizes.filter((size) => size === 10_000)).toHaveLength(2)
  })

  it('Goodput and the cost of shedding in a flood are compared with the ceiling', () => {
    const ceiling = { perSecond: 100, processMicros: 1_000 }
    const flood = { perSecond: 60, processMicros: 50, failures: { UND_ERR_SOCKET: 1 }, answers: 9 }
    const report = reportOverload([{ ceiling, flood, calm: {}, recoveryMs: 300, newcomersMs: [5] }])
    expect(report.recorded).toEqual({ ratios: { 'served in the flood÷ceiling': 0.6 } })
    expect(report.sections[0]?.notes?.join()).toContain('by a served one: 0.05 of its CPU time')
    expect(failuresOf(report)).toEqual(['! overload, flood: UND_ERR_SOCKET, 1 of 9 responses'])
  })
})
