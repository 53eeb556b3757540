import { describe, expect, it } from 'vitest'
import { definitionCosts, definitionFigures } from '../../../scripts/bench/definitions/report.ts'
import {
  cpuPerAnswer,
  metricsMicros,
  redisSeconds,
  residentBytes,
} from '../../../scripts/bench/measuring/cpu.ts'
import type { Generator } from '../../../scripts/bench/measuring/generator.ts'
import {
  race,
  type Sample,
  type Server,
  type Side,
  summarize,
} from '../../../scripts/bench/measuring/race.ts'
import { failed, failuresOf } from '../../../scripts/bench/reporting/failures.ts'

function sample(perSecond: number, failures: Record<string, number> = {}): Sample {
  return {
    answers: 10 * perSecond,
    perSecond,
    p50Ms: 1000 / perSecond,
    p99Ms: 5000 / perSecond,
    failures,
    cpu: { openSearch: 1e6 / perSecond, redis: 50, api: 2 * perSecond, bench: 1 },
  }
}

describe('the samples of a side', () => {
  it('come down to the median of each figure, and to all of their answers', () => {
    expect(summarize([sample(100), sample(500), sample(200)])).toEqual({
      ...sample(200),
      answers: 8_000,
    })
  })

  it('keep every failure', () => {
    const { failures } = summarize([
      sample(1, { 'status 503': 2 }),
      sample(1),
      sample(1, { 'status 503': 1, ECONNRESET: 4 }),
    ])
    expect(failures).toEqual({ 'status 503': 3, ECONNRESET: 4 })
  })
})

describe('a race', () => {
  /** Ten answers a load; its server uses `micros` for each. */
  function sideOf(name: string, micros?: number): Side {
    let answers = 0
    const generator: Generator = {
      ask: async () => Buffer.alloc(0),
      async run() {
        answers += 10
        return { answers: 10, perSecond: 10, p50Ms: 1, p99Ms: 1, failures: {} }
      },
      async close() {},
    }
    const server: Server = {
      cpuMicros: async () => answers * (micros ?? 0),
      residentBytes: async () => 1_000 * answers,
    }
    return { name, generator, requests: [], ...(micros !== undefined && { server }) }
  }
  const sides = [sideOf('raw'), sideOf('api', 50), sideOf('peer', 70)]
  const options = {
    rounds: 1,
    seconds: 1,
    readCpu: async () => ({ openSearch: 0, redis: 0, api: 0, bench: 0 }),
    signal: new AbortController().signal,
    log() {},
  }

  it('tells of each side what the process behind it used, and had in memory after its load', async () => {
    const results = await race([{ name: 'small created 20', sides }], options)
    const told = results.flatMap(({ samples }) => Object.values(samples).flat())
    expect(told.map(({ cpu }) => cpu.api)).toEqual([0, 50, 70])
    expect(told.map(({ residentBytes }) => residentBytes)).toEqual([undefined, 20_000, 20_000])
  })
})

describe('the figures of a case', () => {
  it('compare each definition with that of the service', () => {
    const samples = {
      none: [sample(50)],
      account: [sample(100)],
      'account+created': [sample(200)],
      'account+updated': [sample(400)],
    }
    expect(definitionFigures({ name: 'large created 20', samples })).toMatchObject({
      none: { perSecond: 50, times: { perSecond: 0.5, p50Ms: 2, openSearchCpu: 2 } },
      account: { times: { perSecond: 1, p50Ms: 1, openSearchCpu: 1 } },
      'account+updated': { times: { perSecond: 4, p50Ms: 0.25, openSearchCpu: 0.25 } },
    })
  })

  it('hold the server with the definition of the service against the best of the others', () => {
    const samples = {
      none: [sample(50)],
      account: [sample(100)],
      'account+created': [sample(200)],
      'account+updated': [sample(400)],
    }
    expect(definitionCosts([{ name: 'large created 20', samples }])).toEqual({
      'OpenSearch CPU account÷best other large created 20': 4,
    })
  })

  it('are marked when an answer was not as expected', () => {
    const samples = { raw: [sample(10)], api: [sample(10, { 'status 503': 2 }), sample(10)] }
    const result = { name: 'small updated 20', samples }
    expect(failed(result)).toBe(true)
    expect(failuresOf(result)).toEqual(['! small updated 20, api: status 503, 2 of 200 answers'])
  })

  it('are not marked when all were', () => {
    expect(failed({ name: 'small updated 20', samples: { raw: [sample(10)] } })).toBe(false)
  })
})

describe('the CPU time', () => {
  it('of an answer is what was used meanwhile, by so many answers', () => {
    const before = { openSearch: 1_000, redis: 10, api: 500, bench: 0 }
    const after = { openSearch: 9_000, redis: 20, api: 2_500, bench: 100 }
    expect(cpuPerAnswer(before, after, 10)).toEqual({
      openSearch: 800,
      redis: 1,
      api: 200,
      bench: 10,
    })
  })

  it('of a Redis is that of the user and of the system, without its children', () => {
    const info = [
      '# CPU',
      'used_cpu_sys:1.500000',
      'used_cpu_user:2.250000',
      'used_cpu_sys_children:100.000000',
      'used_cpu_user_children:100.000000',
      '',
    ]
    expect(redisSeconds(info.join('\r\n'))).toBe(3.75)
  })

  it('of the API is read from its metrics', () => {
    const metrics = [
      '# TYPE process_cpu_user_seconds_total counter',
      'process_cpu_user_seconds_total 1',
      'process_cpu_seconds_total 1.5',
      'process_cpu_system_seconds_total 0.5',
    ]
    expect(metricsMicros(metrics.join('\n'))).toBe(1.5e6)
  })

  it('and the memory are told apart', () => {
    const metrics = ['process_cpu_seconds_total 1.5', 'process_resident_memory_bytes 98765432']
    expect(residentBytes(metrics.join('\n'))).toBe(98_765_432)
  })
})
