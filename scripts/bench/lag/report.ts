import { median, percentile } from '../measuring/figures.ts'
import { estimatePercentile } from '../measuring/histogram.ts'
import { formatFigure, renderTable } from '../reporting/table.ts'
import type { LagComparison } from './compare.ts'
import type { LagCpu, LagSample } from './round.ts'

const NAMES = ['', 'changes', 'p50 s', 'p90 s', 'p99 s', 'max s'] as const
const LEGEND = `shown: seconds from a change's entry into the stream until a follower has the page with it; one who has read to the
end reads again 0.1 s later, which is part of it; metric: what the watch tells in indexing_lag_seconds, out of its
buckets, of all accounts; overtaken: changed again before it was shown; max: of all rounds`

/** The figures of the lag, for a program to read. */
export function lagFigures({ warmUp: _, samples, ...facts }: LagComparison) {
  const of = (figure: (sample: LagFigures) => number) => median(rounds.map(figure))
  const sum = (figure: (sample: LagFigures) => number) =>
    rounds.reduce((total, sample) => total + figure(sample), 0)
  const rounds = samples.map(figuresOf)
  return {
    ...facts,
    perSecond: of(({ perSecond }) => perSecond),
    shown: sum(({ shown }) => shown),
    p50: of(({ p50 }) => p50),
    p90: of(({ p90 }) => p90),
    p99: of(({ p99 }) => p99),
    max: Math.max(...rounds.map(({ max }) => max)),
    overtaken: sum(({ overtaken }) => overtaken),
    missed: sum(({ missed }) => missed),
    backlog: of(({ backlog }) => backlog),
    metric: {
      changes: sum(({ metric }) => metric.changes),
      p50: of(({ metric }) => metric.p50),
      p90: of(({ metric }) => metric.p90),
      p99: of(({ metric }) => metric.p99),
    },
    cpu: {
      watch: of(({ cpu }) => cpu.watch),
      api: of(({ cpu }) => cpu.api),
      openSearch: of(({ cpu }) => cpu.openSearch),
      redis: of(({ cpu }) => cpu.redis),
      bench: of(({ cpu }) => cpu.bench),
    },
    rounds,
  }
}

/** The lag, as a table. */
export function renderLag(comparison: LagComparison): string {
  const figures = lagFigures(comparison)
  const { rate, seconds, orders, metric, cpu } = figures
  const rows = [
    ['shown', figures.shown, figures.p50, figures.p90, figures.p99, figures.max],
    ['metric', metric.changes, metric.p50, metric.p90, metric.p99, Number.NaN],
  ] as const
  const table = renderTable(
    NAMES,
    rows.map(([name, changes, ...values]) => [name, `${changes}`, ...values.map(formatFigure)]),
  )
  const title = `The lag at ${rate} changes a second for ${seconds} s, beside ${orders} orders`
  return [
    title,
    '',
    table,
    `entered: ${formatFigure(figures.perSecond)} a second; not written when the last had entered: ${figures.backlog}`,
    `missed: ${figures.missed}; overtaken: ${figures.overtaken}; the clocks are together to ${formatFigure(figures.clockUncertainMs)} ms`,
    `CPUs: ${Object.entries(cpu)
      .map(([name, share]) => `${name} ${formatFigure(share)}`)
      .join(', ')}`,
    LEGEND,
  ].join('\n')
}

/** What was not as it should be, a line for each kind. */
export function lagFailures({ warmUp, samples }: LagComparison): string[] {
  return [warmUp, ...samples].flatMap(({ missed, failures }, round) => {
    const name = round === 0 ? 'warming up' : `round ${round}`
    const all = { ...failures, ...(missed > 0 && { 'changes that were never shown': missed }) }
    return Object.entries(all).map(([what, times]) => `! lag, ${name}: ${what}, ${times} times`)
  })
}

/** A round in a line. */
export function describeLag(sample: LagSample): string {
  const { perSecond, p50, p99, max } = figuresOf(sample)
  const [rate, ...lags] = [perSecond, p50, p99, max].map(formatFigure)
  return `${rate} changes/s, p50/p99/max ${lags.join('/')} s`
}

interface LagFigures {
  perSecond: number
  shown: number
  /** Seconds. */
  p50: number
  p90: number
  p99: number
  max: number
  overtaken: number
  missed: number
  backlog: number
  metric: { changes: number; p50: number; p90: number; p99: number }
  cpu: LagCpu
}

function figuresOf({ lagsMs, metric, failures: _, ...rest }: LagSample): LagFigures {
  const at = (share: number) => (lagsMs.length > 0 ? percentile(lagsMs, share) / 1000 : Number.NaN)
  return {
    ...rest,
    shown: lagsMs.length,
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    max: at(1),
    metric: {
      changes: metric.at(-1)?.count ?? 0,
      p50: estimatePercentile(metric, 0.5),
      p90: estimatePercentile(metric, 0.9),
      p99: estimatePercentile(metric, 0.99),
    },
  }
}
