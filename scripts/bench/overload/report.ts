import { median } from '../measuring/figures.ts'
import { formatFigure, formatRatio, renderTable } from '../reporting/table.ts'
import type { OverloadComparison } from './compare.ts'
import type { ArrivalFigures, OverloadSample } from './round.ts'

const NAMES = ['', '/s', 'served/s', '503', '429', 'p50 ms', 'p99 ms', '503 p99 ms'] as const
const LEGEND = `ceiling: a closed loop; flood: three times as much arrives for 30 s, whoever is slow; calm: half the ceiling, right after it
newcomer: who opens a connection of their own; p50, p99: of what was served; 503, 429: answers of all rounds; goodput: served in the flood, of the ceiling
recovery: from the beginning of the calm until the last request that was not served, at worst
µs: CPU time of the API's process, an answer; shed and nothing else: measured while the only place is taken`

/** The figures of the overload, for a program to read. */
export function overloadFigures({ shed, samples, ...facts }: OverloadComparison) {
  const of = (figure: (sample: OverloadSample) => number) => median(samples.map(figure))
  const servedMicros = of((sample) => sample.servedMicros)
  return {
    ...facts,
    ceiling: of(({ ceiling }) => ceiling),
    goodput: of(({ flood, ceiling }) => flood.servedPerSecond / ceiling),
    worstGoodput: Math.min(...samples.map((s) => s.flood.servedPerSecond / s.ceiling)),
    servedMicros,
    shedMicros: shed.cpuMicros,
    /** What a shed answer costs beside a served one. */
    shedPerServed: shed.cpuMicros / servedMicros,
    /** The same out of the flood, where both were answered. */
    shedMicrosInFlood: of(({ flood, servedMicros: micros }) => {
      const seconds = flood.served / flood.servedPerSecond
      return (1e6 * flood.cpu * seconds - flood.served * micros) / flood.shed
    }),
    recoveryMs: Math.max(...samples.map(({ calm }) => calm.recoveryMs)),
    operationsMs: Math.max(...samples.map(({ flood }) => flood.operationsMs)),
    newcomers: {
      p50Ms: of(({ flood }) => flood.newcomers.p50Ms),
      mostMs: Math.max(...samples.map(({ flood }) => flood.newcomers.mostMs)),
    },
    memory: {
      before: of(({ flood }) => flood.memory.before),
      firstHalf: of(({ flood }) => flood.memory.firstHalf),
      secondHalf: of(({ flood }) => flood.memory.secondHalf),
      most: Math.max(...samples.map(({ flood }) => flood.memory.most)),
    },
    shed,
    rounds: samples,
  }
}

/** The overload, as a table. */
export function renderOverload(comparison: OverloadComparison): string {
  const figures = overloadFigures(comparison)
  const { samples } = comparison
  const { memory } = figures
  const row = (name: string, arrivals: readonly ArrivalFigures[]) => {
    const of = (figure: (one: ArrivalFigures) => number) =>
      formatFigure(median(arrivals.map(figure)))
    const sum = (figure: (one: ArrivalFigures) => number) =>
      `${arrivals.reduce((total, one) => total + figure(one), 0)}`
    return [
      name,
      of(({ offered }) => offered),
      of(({ servedPerSecond }) => servedPerSecond),
      sum(({ shed }) => shed),
      sum(({ limited }) => limited),
      of(({ servedP50Ms }) => servedP50Ms),
      of(({ servedP99Ms }) => servedP99Ms),
      of(({ shedP99Ms }) => shedP99Ms),
    ]
  }
  const ceiling = formatFigure(figures.ceiling)
  const table = renderTable(NAMES, [
    ['ceiling', ceiling, ceiling, '0', '0', '-', '-', '-'],
    row(
      'flood',
      samples.map(({ flood }) => flood),
    ),
    row(
      'calm',
      samples.map(({ calm }) => calm),
    ),
  ])
  return [
    `Overload; ${figures.case}`,
    '',
    table,
    `goodput: ${formatRatio(figures.goodput)} of the ceiling, at worst ${formatRatio(figures.worstGoodput)}; recovery: ${formatFigure(figures.recoveryMs / 1000)} s`,
    `µs: served ${formatFigure(figures.servedMicros)}, shed and nothing else ${formatFigure(figures.shedMicros)} (${formatRatio(figures.shedPerServed)}), shed in the flood ${formatFigure(figures.shedMicrosInFlood)}`,
    `MB: ${Object.entries(memory)
      .map(([when, value]) => `${when} ${formatFigure(value)}`)
      .join(', ')}`,
    `in the flood, ms: a newcomer's answer ${formatFigure(figures.newcomers.p50Ms)}, the slowest ${formatFigure(figures.newcomers.mostMs)}; the slowest of the operations port ${formatFigure(figures.operationsMs)}`,
    LEGEND,
  ].join('\n')
}

/** A round in a line. */
export function describeOverload({
  ceiling,
  connections,
  servedMicros,
  flood,
  calm,
}: OverloadSample) {
  const goodput = formatRatio(flood.servedPerSecond / ceiling)
  return (
    `ceiling ${formatFigure(ceiling)}/s with ${connections} connections, ${formatFigure(servedMicros)} µs; ` +
    `flood ${formatFigure(flood.offered)}/s, goodput ${goodput}, p99 ${formatFigure(flood.servedP99Ms)} ms; ` +
    `recovery ${formatFigure(calm.recoveryMs / 1000)} s`
  )
}

/** What was not as it should be, a line for each kind. */
export function overloadFailures({ shed, samples }: OverloadComparison): string[] {
  const all = [
    { name: 'shedding', failures: shed.failures },
    ...samples.flatMap(({ flood, calm }, round) => [
      { name: `flood ${round + 1}`, failures: flood.failures },
      { name: `calm ${round + 1}`, failures: calm.failures },
    ]),
  ]
  return all.flatMap(({ name, failures }) =>
    Object.entries(failures).map(([what, times]) => `! overload, ${name}: ${what}, ${times} times`),
  )
}
