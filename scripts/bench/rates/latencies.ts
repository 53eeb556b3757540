import { median, percentile } from '../measuring/figures.ts'
import type { Arrival } from '../measuring/open-loop.ts'

/** How long requests took from when they were due. */
export interface LatencyFigures {
  answers: number
  /** Sent a second. */
  rate: number
  p50Ms: number
  p90Ms: number
  p99Ms: number
  p999Ms: number
  mostMs: number
  /** How much of that was this process's, which sent them later than they were due. */
  late: { p50Ms: number; p99Ms: number }
  /** What was not an answer as expected → how often. */
  failures: Record<string, number>
}

/** `seconds`: over which they were due. A request that failed has taken its time, too. */
export function latenciesOf(arrivals: readonly Arrival[], seconds: number): LatencyFigures {
  const took = Float64Array.from(arrivals, ({ ms }) => ms).sort()
  const late = Float64Array.from(arrivals, ({ dueAt, sentAt }) => sentAt - dueAt).sort()
  const failed = arrivals.filter(({ failure }) => failure !== undefined)
  const byKind = Map.groupBy(failed, ({ failure }) => failure ?? '')
  return {
    answers: arrivals.length,
    rate: arrivals.length / seconds,
    p50Ms: percentile(took, 0.5),
    p90Ms: percentile(took, 0.9),
    p99Ms: percentile(took, 0.99),
    p999Ms: percentile(took, 0.999),
    mostMs: percentile(took, 1),
    late: { p50Ms: percentile(late, 0.5), p99Ms: percentile(late, 0.99) },
    failures: Object.fromEntries([...byKind].map(([what, those]) => [what, those.length])),
  }
}

/** The median of each figure over the rounds, the slowest of all, and every failure. */
export function summarizeLatencies(samples: readonly LatencyFigures[]): LatencyFigures {
  const of = (figure: (sample: LatencyFigures) => number) => median(samples.map(figure))
  const failures: Record<string, number> = {}
  for (const [what, times] of samples.flatMap((sample) => Object.entries(sample.failures))) {
    failures[what] = (failures[what] ?? 0) + times
  }
  return {
    answers: samples.reduce((total, { answers }) => total + answers, 0),
    rate: of(({ rate }) => rate),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p90Ms: of(({ p90Ms }) => p90Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    p999Ms: of(({ p999Ms }) => p999Ms),
    mostMs: Math.max(...samples.map(({ mostMs }) => mostMs)),
    late: { p50Ms: of(({ late }) => late.p50Ms), p99Ms: of(({ late }) => late.p99Ms) },
    failures,
  }
}
