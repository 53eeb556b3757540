import { describe, expect, it } from 'vitest'
import { cpuPerAnswer } from '../../../scripts/bench/measuring/cpu.ts'
import { closedLoopContender, race } from '../../../scripts/bench/measuring/race.ts'
import { apiSection } from '../../../scripts/bench/parts/api.ts'
import { refusalSection } from '../../../scripts/bench/parts/refusals.ts'
import { reportStart } from '../../../scripts/bench/parts/start.ts'
import {
  misreported,
  readStat,
  treeMicros,
  workersSection,
} from '../../../scripts/bench/parts/workers.ts'
import { failuresOf, reportSections } from '../../../scripts/bench/reporting/comparison.ts'
import { sampleOf } from './bench-sample.ts'

/** The cells of the rows that begin with a name. */
function rowsOf(table: string | undefined, name: string): string[][] {
  const lines = (table ?? '').split('\n').filter((line) => line.startsWith(name))
  return lines.map((line) => line.split(/ {2,}/).slice(1))
}

describe('race', () => {
  const { signal } = new AbortController()

  it('Contenders alternate in every scenario, and every other round reverses their sequence', async () => {
    const order: string[] = []
    const scenarios = ['20', '100'].map((name) => {
      const measure = (contender: string) => async () => order.push(`${contender} ${name}`)
      const contenders = ['raw', 'api'].map((one) => ({ name: one, measure: measure(one) }))
      return { name, contenders }
    })
    const results = await race(scenarios, { rounds: 2, signal, log() {} }, String)
    expect(order.join()).toBe('raw 20,api 20,raw 100,api 100,api 20,raw 20,api 100,raw 100')
    expect(results[0]?.samples).toEqual({ raw: [1, 6], api: [2, 5] })
  })

  it('A closed loop measures CPU time and memory of the process behind it, without the warm-up', async () => {
    let answers = 0
    const run = async () => {
      answers += 10
      return { answers: 10, perSecond: 10, p50Ms: 1, p99Ms: 1, failures: {} }
    }
    const loop = { run, fetch: async () => Buffer.alloc(0), async [Symbol.asyncDispose]() {} }
    const server = {
      cpuMicros: async () => 50 * answers,
      residentBytes: async () => 1_000 * answers,
    }
    const readCpu = async () => ({ openSearch: 0, redis: 0, api: 0, bench: 0 })
    const context = { options: { seconds: 1 }, readCpu, signal } as never
    const plan = { name: 'api', loop, requests: [], server }
    const sample = await closedLoopContender(context, plan).measure()
    expect(sample).toMatchObject({ cpu: { api: 50 }, residentBytes: 20_000 })
  })

  it('CPU time per answer is the difference of two readings by the number of answers', () => {
    const before = { openSearch: 1_000, redis: 10, api: 500, bench: 0 }
    const after = { openSearch: 9_000, redis: 20, api: 2_500, bench: 100 }
    const micros = { openSearch: 800, redis: 1, api: 200, bench: 10 }
    expect(cpuPerAnswer(before, after, 10)).toEqual(micros)
  })
})

describe('part api', () => {
  // The second round runs on a machine that is ten times slower.
  const result = {
    name: 'large created 20',
    samples: {
      straightforward: [sampleOf(50, { megabytes: 200 }), sampleOf(5, { megabytes: 210 })],
      api: [sampleOf(100, { megabytes: 120 }), sampleOf(10, { megabytes: 140 })],
      raw: [sampleOf(200), sampleOf(20)],
      embedded: [sampleOf(400, { megabytes: 90 }), sampleOf(40, { megabytes: 80 })],
    },
  }
  const facts = { state: 'filled', index: { bytes: 9e6, segments: 3 }, queryCacheHits: 0 }
  const { tables, figures, ratios, costs, failures } = reportSections([
    apiSection(facts, [], [result]),
  ])

  it('The contenders are compared within each round, and the ratios are recorded', () => {
    expect(ratios).toEqual({
      'api÷raw large created 20': 0.5,
      'api÷straightforward large created 20': 2,
      'embedded÷raw large created 20': 2,
    })
    expect(costs).toEqual({ 'p50 api÷raw large created 20': 2 })
    expect(failures).toEqual([])
    const compared = { case: result.name, apiPerRaw: 0.5, p50PerRaw: 2, raw: { perSecond: 110 } }
    expect(figures).toMatchObject([{ state: 'filled', results: [compared] }])
  })

  it('The tables show all contenders and their highest memory', () => {
    const [rates, memory] = rowsOf(tables[0], 'large created 20')
    const times = ['27.5/55.0/110/13.8', '138/275/550/68.8']
    expect(rates).toEqual(['-', '110', '55.0', '0.50', '2.00', '2.00', ...times])
    expect(memory?.at(-1)).toBe('130/205/85.0')
    expect(tables[0]).toContain('api 140 MB, straightforward 210 MB, embedded 90.0 MB')
  })

  it('A scenario with a wrong answer is marked, and its failures are listed', () => {
    const api = [sampleOf(10, { failures: { 'status 503': 2 } }), sampleOf(10)]
    const wrong = { ...result, samples: { ...result.samples, api } }
    expect(failuresOf(wrong)).toEqual(['! large created 20, api: status 503, 2 of 200 answers'])
    const report = reportSections([apiSection(facts, [], [wrong])])
    expect(report.failures).toHaveLength(1)
    expect(report.tables[0]).toContain('\n! large created 20')
  })
})

describe('part refusals', () => {
  it('Refusals are compared with the bare route, and recorded with their stores', () => {
    const samples = {
      bare: [sampleOf(1000, { api: 100 }), sampleOf(100, { api: 1_000 })],
      api: [sampleOf(500, { api: 200 }), sampleOf(50, { api: 2_000 })],
    }
    const section = refusalSection('embedded', [{ name: '401 unknown key', samples }])
    const { figures, ratios } = reportSections([section])
    expect(ratios).toEqual({ 'api÷bare 401 unknown key, embedded': 0.5 })
    expect(figures).toMatchObject([{ results: [{ apiPerBare: 0.5, cpuPerBare: 2 }] }])
  })
})

describe('part workers', () => {
  it('Two workers are compared with one within each round, and CPU time is recorded as a cost', () => {
    const samples = {
      'workers 1': [sampleOf(100, { api: 200 }), sampleOf(50, { api: 400 })],
      'workers 2': [sampleOf(150, { api: 220 }), sampleOf(75, { api: 440 })],
    }
    const results = [{ name: 'small created 20', samples }]
    const { figures, costs } = reportSections([{ ...workersSection, results, legend: [] }])
    expect(costs).toEqual({ 'µs 2÷1 workers small created 20': expect.closeTo(1.1) })
    expect(figures).toMatchObject([{ results: [{ ratePerOne: 1.5 }] }])
  })

  it('Metrics that miss the CPU time of a process are a failure, unless the kernel has no figures', () => {
    expect(misreported({ 'workers 1': 1.02, 'workers 2': 0.55 })).toEqual([
      '! workers 2: /metrics has 0.55 of the CPU time of its processes',
    ])
    expect(misreported({ 'workers 1': Number.NaN })).toEqual([])
  })

  it('A stat line is parsed although the process name has spaces and parentheses', () => {
    const line = `42 (node (1) a) S 7 42 42 0 -1 4194560 5 0 0 0 150 50 9 9 20 0 11 0 ${'0 '.repeat(30)}`
    expect(readStat(line)).toEqual({ pid: 42, parent: 7, cpuMicros: 2_000_000 })
  })

  it('CPU time of a process tree includes all descendants and no other process', () => {
    const times = [
      [1, 0, 1_000],
      [2, 1, 100],
      [3, 2, 20],
      [4, 3, 3],
      [5, 1, 5_000],
    ] as const
    const processes = times.map(([pid, parent, cpuMicros]) => ({ pid, parent, cpuMicros }))
    expect(treeMicros(processes, 2)).toBe(123)
  })
})

describe('part start', () => {
  it('Each program is compared with the bare route start by start, and recorded as a cost', () => {
    const samples = { bare: [100, 300, 200], source: [300, 600, 600], built: [200, 450, 400] }
    const { tables, figures, costs } = reportStart(5_000, samples)
    expect(costs).toEqual({ 'start÷bare source': 3, 'start÷bare built': 2 })
    const source = { program: 'source', ms: 600, fastestMs: 300, perBare: 3 }
    expect(figures).toMatchObject({ programs: [{ program: 'bare' }, source, {}] })
    expect(tables[0]).toMatch(/node src\/main\.ts .* 600 +300 +3\.00/)
  })
})
