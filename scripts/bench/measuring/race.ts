import type { BenchContext } from '../context.ts'
import type { ClosedLoop, LoadFigures } from './closed-loop.ts'
import { CPU_RENEWAL_MS, type CpuTimes, cpuPerAnswer } from './cpu.ts'
import type { LoadRequest } from './request.ts'
import type { RunningService } from './service.ts'

/** One of the implementations or configurations that a scenario compares. */
export interface Contender<S> {
  name: string
  /** Performs one measurement. */
  measure(): Promise<S>
}

export interface Scenario<S> {
  name: string
  contenders: readonly Contender<S>[]
}

/** The measurements of each contender, one for each round. */
export interface Result<S = Sample> {
  name: string
  samples: Record<string, S[]>
}

/** A closed loop's measurement; CPU times are microseconds for each answer. */
export interface Sample extends LoadFigures {
  cpu: CpuTimes
  /** Memory of the contender's process after the load. */
  residentBytes?: number
}

interface RaceOptions {
  rounds: number
  signal: AbortSignal
  log(text: string): void
}

/** Longer than OpenSearch needs to renew its CPU statistics. */
const WARM_UP_MS = 1.5 * CPU_RENEWAL_MS

/**
 * Measures the contenders of a scenario one right after the other, and all scenarios in each round, so
 * a disturbance of the machine affects all contenders alike. Every other round runs in reverse.
 */
export async function race<S>(
  scenarios: readonly Scenario<S>[],
  { rounds, signal, log }: RaceOptions,
  describe: (sample: S) => string,
): Promise<Result<S>[]> {
  const results = scenarios.map(({ name, contenders }) => {
    const samples = contenders.map((contender): [string, S[]] => [contender.name, []])
    return { name, samples: Object.fromEntries(samples) }
  })
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, { name, contenders }] of scenarios.entries()) {
      const texts: string[] = []
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        signal.throwIfAborted()
        const sample = await contender.measure()
        results[at]?.samples[contender.name]?.push(sample)
        texts.push(`${contender.name} ${describe(sample)}`)
      }
      log(`round ${round + 1}/${rounds}  ${name}: ${texts.join(', ')}`)
    }
  }
  return results
}

/** Races closed loops with the options of the bench. */
export async function raceLoops(
  scenarios: readonly Scenario<Sample>[],
  { options, signal, log }: Pick<BenchContext, 'options' | 'signal' | 'log'>,
): Promise<Result[]> {
  const perSecond = (sample: Sample) => `${Math.round(sample.perSecond)}/s`
  return await race(scenarios, { rounds: options.rounds, signal, log }, perSecond)
}

interface LoopPlan {
  name: string
  loop: ClosedLoop
  requests: readonly LoadRequest[]
  /** The process of the contender, unless OpenSearch itself is the contender. */
  server?: Pick<RunningService, 'cpuMicros' | 'residentBytes'>
  /** How long it runs; the option of the bench when absent. */
  seconds?: number
}

/** A contender that receives as many requests as it can answer. */
export function closedLoopContender(
  { options, readCpu, signal }: Pick<BenchContext, 'options' | 'readCpu' | 'signal'>,
  { name, loop, requests, server, seconds = options.seconds }: LoopPlan,
): Contender<Sample> {
  const read = async () => ({
    ...(await readCpu()),
    ...(server && { api: await server.cpuMicros() }),
  })
  return {
    name,
    async measure() {
      await loop.run(requests, WARM_UP_MS, signal)
      const before = await read()
      const figures = await loop.run(requests, 1000 * seconds, signal)
      const cpu = cpuPerAnswer(before, await read(), figures.answers)
      return { ...figures, cpu, ...(server && { residentBytes: await server.residentBytes() }) }
    },
  }
}
