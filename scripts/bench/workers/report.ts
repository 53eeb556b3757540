import { medianRatio } from '../measuring/figures.ts'
import { type HeatResult, type Sample, summarize } from '../measuring/race.ts'
import type { Ratios } from '../part.ts'
import { failed } from '../reporting/failures.ts'
import { formatFigure, formatPair, formatRatio, renderTable } from '../reporting/table.ts'
import type { WorkersComparison } from './compare.ts'

const NAMES = ['case', '1/s', '2/s', '2÷1', 'µs 1', 'µs 2', 'µs 2÷1', 'p50 ms', 'MB'] as const
const LEGEND = `1, 2: WORKERS; µs: CPU time a request, of all processes of the service, the primary too; p50, MB: 1/2`

/** A case's figures with one worker and with two, for a program to read. */
export function workersFigures({ name, samples }: HeatResult) {
  const { 'workers 1': one = [], 'workers 2': two = [] } = samples
  const per = (figure: (sample: Sample) => number) => medianRatio(two.map(figure), one.map(figure))
  return {
    case: name,
    one: summarize(one),
    two: summarize(two),
    ratePerOne: per(({ perSecond }) => perSecond),
    cpuPerOne: per(({ cpu }) => cpu.api),
    rounds: samples,
  }
}

/** Two workers beside one, as a table. */
export function renderWorkers({ results, told }: WorkersComparison): string {
  const rows = results.map((result) => {
    const { case: name, one, two, ratePerOne, cpuPerOne } = workersFigures(result)
    return [
      failed(result) ? `! ${name}` : name,
      formatFigure(one.perSecond),
      formatFigure(two.perSecond),
      formatRatio(ratePerOne),
      formatFigure(one.cpu.api),
      formatFigure(two.cpu.api),
      formatRatio(cpuPerOne),
      formatPair(one.p50Ms, two.p50Ms),
      formatPair(megabytes(one), megabytes(two)),
    ]
  })
  const shares = Object.entries(told).map(([name, share]) => `${name} ${formatRatio(share)}`)
  return [
    'One worker and two',
    '',
    renderTable(NAMES, rows),
    LEGEND,
    `CPU time by /metrics ÷ by /proc, over all: ${shares.join(', ')}`,
  ].join('\n')
}

function megabytes({ residentBytes = Number.NaN }: Sample): number {
  return residentBytes / 2 ** 20
}

/** What of the figures is kept. */
export function workersCosts({ results }: WorkersComparison): Ratios {
  const figures = results.map(workersFigures)
  return Object.fromEntries(
    figures.map(({ case: name, cpuPerOne }) => [`µs 2÷1 workers ${name}`, cpuPerOne]),
  )
}

/** Metrics that do not tell what the processes use: the figures then say nothing. */
export function mistold({ told }: WorkersComparison): string[] {
  return Object.entries(told).flatMap(([name, share]) =>
    Math.abs(share - 1) > TOLERANCE
      ? [`! ${name}: /metrics tells ${formatRatio(share)} of the CPU time that its processes used`]
      : [],
  )
}

/** The kernel counts in hundredths of a second, and both are read a moment apart. */
const TOLERANCE = 0.05
