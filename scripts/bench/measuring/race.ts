import type { RunningService } from '../../../test/harness/processes/service.ts'
import type { BenchContext } from '../context.ts'
import { describeSample, type Result, type Sample } from '../report.ts'
import { CPU_RENEWAL_MS } from './cpu.ts'
import { type LoadClient, type LoadRequest, loadFigures } from './load.ts'

/** One of the implementations or configurations that a scenario compares. */
export interface Contender {
  name: string
  /** Performs one measurement. */
  measure(): Promise<Sample>
}

export interface Scenario {
  name: string
  contenders: readonly Contender[]
}

/** A scenario of these measurements, by the name of the contender. */
export function scenarioOf(name: string, measures: Record<string, Contender['measure']>): Scenario {
  const contenders = Object.entries(measures).map(([of, measure]) => ({ name: of, measure }))
  return { name, contenders }
}

/** Longer than OpenSearch needs to renew its CPU statistics. */
const WARM_UP_MS = 1.5 * CPU_RENEWAL_MS

/**
 * Measures the contenders of a scenario one right after the other, and all scenarios in each round.
 * So a disturbance of the machine affects all contenders alike. Every other round runs in reverse.
 */
export async function race(
  scenarios: readonly Scenario[],
  { signal, log, options: { rounds } }: Pick<BenchContext, 'signal' | 'log' | 'options'>,
): Promise<Result[]> {
  const results = scenarios.map(({ name, contenders }) => {
    const samples = contenders.map((contender): [string, Sample[]] => [contender.name, []])
    return { name, samples: Object.fromEntries(samples) }
  })
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, { name, contenders }] of scenarios.entries()) {
      const texts: string[] = []
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        signal.throwIfAborted()
        const sample = await contender.measure()
        results[at]?.samples[contender.name]?.push(sample)
        texts.push(`${contender.name} ${describeSample(sample)}`)
      }
      log(`round ${round + 1}/${rounds}  ${name}: ${texts.join(', ')}`)
    }
  }
  return results
}

interface LoopPlan {
  name: string
  client: LoadClient
  requests: readonly LoadRequest[]
  /** The process of the contender, unless OpenSearch itself is the contender. */
  server?: Pick<RunningService, 'cpuMicros' | 'residentBytes'> | undefined
  /** Of the server: its workers; 1 when absent. */
  processes?: number
}

/** A contender that receives as many requests as it can serve. */
export function loopContender(
  { options, readCpu, signal }: Pick<BenchContext, 'options' | 'readCpu' | 'signal'>,
  { name, client, requests, server }: LoopPlan,
): Contender {
  const read = async () => ({
    ...(await readCpu()),
    ...(server && { processMicros: await server.cpuMicros() }),
  })
  return {
    name,
    async measure() {
      await client.loop(requests, WARM_UP_MS, signal)
      const before = await read()
      const startedAt = performance.now()
      const outcomes = await client.loop(requests, 1000 * options.seconds, signal)
      const figures = loadFigures(outcomes, performance.now() - startedAt)
      const cpu = differencePer(figures.answers, before, await read())
      const megabytes = server && { megabytes: (await server.residentBytes()) / 2 ** 20 }
      return { ...figures, ...cpu, ...megabytes }
    },
  }
}

/** V8 has optimised a service and the bare proxy after about so many requests. */
const WARM_UP_REQUESTS = 50_000
/** Optimised code is kept, so a process is warmed up once. */
const warm = new WeakSet<object>()

/** Sends requests to each process of the contenders until V8 has optimised it. */
export async function warmUpProcesses(
  plans: readonly LoopPlan[],
  { signal, log }: Pick<BenchContext, 'signal' | 'log'>,
): Promise<void> {
  const byProcess = Map.groupBy(plans, ({ server }) => server)
  for (const [server, [first, ...others]] of byProcess) {
    if (server === undefined || first === undefined || warm.has(server)) continue
    warm.add(server)
    log(`warming up ${first.name} …`)
    const requests = [first, ...others].flatMap((plan) => plan.requests)
    let sent = 0
    while (sent < WARM_UP_REQUESTS * (first.processes ?? 1)) {
      sent += (await first.client.loop(requests, WARM_UP_MS, signal)).length
    }
  }
}

/** The difference of two readings for each of so many responses. */
export function differencePer<T extends object>(answers: number, before: T, after: T): T {
  const names = Object.keys(before) as (keyof T)[]
  const grown = names.map((name) => [name, (Number(after[name]) - Number(before[name])) / answers])
  return Object.fromEntries(grown)
}
