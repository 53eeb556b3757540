import type { HistoryEntry } from './history.ts'
import { formatRatio, renderTable } from './reporting/table.ts'

/** A ratio of a run, with those of earlier runs. */
export interface Trend {
  /** The part and the name of the ratio. */
  name: string
  now: number
  /** Absent in the first run that measured it. */
  past: { last: number; best: number; worst: number; runs: number } | undefined
  /** Whether it is a regression: worse than all earlier runs, by more than noise. */
  isWorse: boolean
}

/** Older runs say little about the present code. */
const RUNS = 10
/** Fewer runs do not show how much runs of the same code differ. */
const RUNS_TO_JUDGE = 3
/** Two runs of the same code differ by as much. */
const TOLERANCE = 0.05
const COLUMNS = ['ratio', 'now', 'last', 'best', 'worst', 'runs']

/** Runs are comparable on the same kind of machine with the same number of orders. */
export function isComparable(a: HistoryEntry, b: HistoryEntry): boolean {
  return describeConditions(a) === describeConditions(b)
}

function describeConditions({ environment: { cpu, cpus }, options }: HistoryEntry): string {
  return `${cpus} × ${cpu} with ${options.orders} orders`
}

/** Each ratio of a run, with those of the latest comparable runs; `past` begins with the oldest. */
export function trendsOf(run: HistoryEntry, past: readonly HistoryEntry[]): Trend[] {
  const comparable = past.filter((entry) => isComparable(entry, run))
  return Object.entries(run.parts).flatMap(([part, recorded]) =>
    (['ratios', 'costs'] as const).flatMap((kind) =>
      Object.entries(recorded[kind]).map(([name, now]) => {
        const before = comparable.flatMap((entry) => entry.parts[part]?.[kind][name] ?? [])
        const judged = judge(now, before.slice(-RUNS), kind === 'costs')
        return { name: `${part}: ${name}`, now, ...judged }
      }),
    ),
  )
}

function judge(now: number, recent: readonly number[], isCost: boolean) {
  const last = recent.at(-1)
  if (last === undefined) return { past: undefined, isWorse: false }
  const [least, most] = [Math.min(...recent), Math.max(...recent)]
  const [best, worst] = isCost ? [least, most] : [most, least]
  const isBeyond = isCost ? now > worst * (1 + TOLERANCE) : now < worst * (1 - TOLERANCE)
  const runs = recent.length
  return { past: { last, best, worst, runs }, isWorse: isBeyond && runs >= RUNS_TO_JUDGE }
}

/** How a run compares with earlier ones, with its regressions by name. */
export function renderTrends(run: HistoryEntry, past: readonly HistoryEntry[]): string {
  const conditions = describeConditions(run)
  const parts = Object.keys(run.parts)
  const latest = past.findLast(
    (entry) => isComparable(entry, run) && parts.some((part) => entry.parts[part] !== undefined),
  )
  if (latest === undefined) return `The history has no run of ${parts.join(', ')} on ${conditions}`
  const trends = trendsOf(run, past)
  const worse = trends.filter(({ isWorse }) => isWorse)
  return [
    `Compared with the last runs on ${conditions}; the latest: ${describeRun(latest)}`,
    '',
    renderTable(COLUMNS, trends.map(cells)),
    ...(worse.length === 0
      ? ['no ratio is worse than in all of them']
      : ['! worse than in all of them:', ...worse.map(describeRegression)]),
  ].join('\n')
}

/** Which code was measured, and when. */
export function describeRun({ commit, dirty, environment }: HistoryEntry): string {
  return `${commit}${dirty ? ' and changes' : ''}, ${environment.date.slice(0, 10)}`
}

function cells({ name, now, past, isWorse }: Trend): string[] {
  const figures = [now, past?.last, past?.best, past?.worst].map((value) =>
    formatRatio(value ?? Number.NaN),
  )
  return [isWorse ? `! ${name}` : name, ...figures, `${past?.runs ?? 0}`]
}

function describeRegression({ name, now, past }: Trend): string {
  const times = formatRatio(now / (past?.worst ?? Number.NaN))
  return `! ${name}: ${formatRatio(now)}, ×${times} of the worst of ${past?.runs} runs`
}
