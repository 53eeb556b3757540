import { CPU_RENEWAL_MS, type CpuTimes, cpuPerAnswer, type ReadCpu } from './cpu.ts'
import { median } from './figures.ts'
import type { Generator, LoadFigures, LoadRequest } from './generator.ts'

/** A process that answers, and tells what it uses. */
export interface Server {
  /** Its CPU time since its start, in microseconds. */
  cpuMicros(): Promise<number>
  residentBytes(): Promise<number>
}

/** One of those that are compared. */
export interface Side {
  name: string
  generator: Generator
  /** The process behind it, where it is not OpenSearch itself. */
  server?: Server
  requests: readonly LoadRequest[]
}

/** Sides that answer the same question, one way or another. */
export interface Heat {
  name: string
  sides: readonly Side[]
}

/** One measurement of a side; CPU times are microseconds an answer. */
export interface Sample extends LoadFigures {
  cpu: CpuTimes
  /** Of the process behind the side, after the load. */
  residentBytes?: number
}

/** The measurements of each side, one a round. */
export interface HeatResult {
  name: string
  samples: Record<string, Sample[]>
}

export interface RaceOptions {
  rounds: number
  seconds: number
  readCpu: ReadCpu
  signal: AbortSignal
  log(text: string): void
}

/** Longer than OpenSearch needs to renew what it tells of its CPU time. */
const WARM_UP_MS = 1.5 * CPU_RENEWAL_MS

/**
 * Measures all sides of a heat one right after the other, and all heats in each round: what disturbs the
 * machine for a while falls on all sides alike. Every other round goes backwards.
 */
export async function race(heats: readonly Heat[], options: RaceOptions): Promise<HeatResult[]> {
  const results = heats.map(({ name, sides }) => ({
    name,
    samples: Object.fromEntries(sides.map((side) => [side.name, [] as Sample[]])),
  }))
  for (let round = 0; round < options.rounds; round += 1) {
    for (const [at, { name, sides }] of heats.entries()) {
      const told: string[] = []
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const sample = await measure(side, options)
        results[at]?.samples[side.name]?.push(sample)
        told.push(`${side.name} ${Math.round(sample.perSecond)}/s`)
      }
      options.log(`round ${round + 1}/${options.rounds}  ${name}: ${told.join(', ')}`)
    }
  }
  return results
}

async function measure(
  { generator, requests, server }: Side,
  { seconds, readCpu, signal }: RaceOptions,
): Promise<Sample> {
  const read = async () => {
    const times = await readCpu()
    return server ? { ...times, api: await server.cpuMicros() } : times
  }
  await generator.run(requests, WARM_UP_MS, signal)
  const before = await read()
  const figures = await generator.run(requests, 1000 * seconds, signal)
  const after = await read()
  const sample = { ...figures, cpu: cpuPerAnswer(before, after, figures.answers) }
  return server ? { ...sample, residentBytes: await server.residentBytes() } : sample
}

/** The median of each figure over the rounds, and every failure. */
export function summarize(samples: readonly Sample[]): Sample {
  const of = (figure: (sample: Sample) => number) => median(samples.map(figure))
  return {
    answers: samples.reduce((total, { answers }) => total + answers, 0),
    perSecond: of(({ perSecond }) => perSecond),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    cpu: {
      openSearch: of(({ cpu }) => cpu.openSearch),
      redis: of(({ cpu }) => cpu.redis),
      api: of(({ cpu }) => cpu.api),
      bench: of(({ cpu }) => cpu.bench),
    },
    ...(samples.some((sample) => sample.residentBytes !== undefined) && {
      residentBytes: of((sample) => sample.residentBytes ?? Number.NaN),
    }),
    failures: allFailures(samples),
  }
}

function allFailures(samples: readonly Sample[]): Record<string, number> {
  const total: Record<string, number> = {}
  for (const { failures } of samples) {
    for (const [what, times] of Object.entries(failures)) total[what] = (total[what] ?? 0) + times
  }
  return total
}
