import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { formatRatio, type Ratios, type Recorded, renderTable } from './report.ts'

/**
 * A run of the bench, one line of the history. `environment` and `options` may have more
 * properties.
 */
export interface HistoryEntry {
  /** The commit that was measured. */
  commit: string
  /** Whether the working tree had uncommitted changes. */
  dirty: boolean
  environment: { date: string; cpu: string; cpus: number; openSearch: string }
  options: { orders: number }
  /** By name. */
  parts: Readonly<Record<string, Recorded>>
}

const HISTORY_FILE = fileURLToPath(new URL('history.ndjson', import.meta.url))
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** The bench writes these itself, so they do not make the working tree dirty. */
const OWN_FILES = ['scripts/bench/history.ndjson', 'scripts/bench/chart.svg']
/** Beyond the precision with which any two runs agree. */
const DIGITS = 4
/** Older runs say little about the present code. */
const RUNS = 10
/** Fewer runs do not show how much runs of the same code differ. */
const RUNS_TO_JUDGE = 3
/** Two runs of the same code differ by as much. */
const TOLERANCE = 0.05
const COLUMNS = ['ratio', '', 'now', 'last', 'best', 'worst', 'runs']

/** The commit of the checkout; unknown outside of a checkout. */
export function readCommit(): Pick<HistoryEntry, 'commit' | 'dirty'> {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const others = OWN_FILES.map((file) => `:!${file}`)
    const changes = git('status', '--porcelain', '--', '.', ...others)
    return { commit: git('rev-parse', '--short', 'HEAD').trim(), dirty: changes !== '' }
  } catch {
    return { commit: 'unknown', dirty: true }
  }
}

/** The oldest run first. */
export function readHistory(file = HISTORY_FILE): HistoryEntry[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line))
}

export function appendEntry(entry: HistoryEntry, file = HISTORY_FILE): void {
  appendFileSync(file, `${JSON.stringify(entry)}\n`)
}

/** Rounds the ratios, and omits those without a measurement: JSON has finite numbers only. */
export function rounded({ ratios, costs }: Recorded): Recorded {
  const finite = (all: Ratios) =>
    Object.entries(all)
      .filter(([, value]) => Number.isFinite(value))
      .map(([name, value]) => [name, Number(value.toPrecision(DIGITS))])
  return { ratios: Object.fromEntries(finite(ratios)), costs: Object.fromEntries(finite(costs)) }
}

/** Each ratio of a run, with those of the latest comparable runs; `past` begins with the oldest. */
export function trendsOf(run: HistoryEntry, past: readonly HistoryEntry[]) {
  const conditions = describeConditions(run)
  const comparable = past.filter((entry) => describeConditions(entry) === conditions)
  return Object.entries(run.parts).flatMap(([part, recorded]) =>
    (['ratios', 'costs'] as const).flatMap((kind) =>
      Object.entries(recorded[kind]).map(([name, now]) => {
        const before = comparable.flatMap((entry) => entry.parts[part]?.[kind][name] ?? [])
        return { name: `${part}: ${name}`, now, ...judge(now, before.slice(-RUNS), kind) }
      }),
    ),
  )
}

/** Runs are comparable on the same kind of machine with the same number of orders. */
function describeConditions({ environment: { cpu, cpus }, options }: HistoryEntry): string {
  return `${cpus} × ${cpu} with ${options.orders} orders`
}

/**
 * `isWorse`: a regression, worse than all earlier runs by more than noise. NaN where there are
 * none.
 */
function judge(now: number, recent: readonly number[], kind: keyof Recorded) {
  const runs = recent.length
  const last = recent.at(-1) ?? Number.NaN
  const [least, most] = [Math.min(last, ...recent), Math.max(last, ...recent)]
  const isCost = kind === 'costs'
  const [best, worst] = isCost ? [least, most] : [most, least]
  const isBeyond = isCost ? now > worst * (1 + TOLERANCE) : now < worst * (1 - TOLERANCE)
  return { runs, last, best, worst, isWorse: isBeyond && runs >= RUNS_TO_JUDGE }
}

/** The ratios of a run, compared with earlier runs, and its regressions by name. */
export function renderTrends(run: HistoryEntry, past: readonly HistoryEntry[]): string {
  const trends = trendsOf(run, past)
  const rows = trends.map(({ name, isWorse, now, last, best, worst, runs }) => {
    return [name, isWorse ? '!' : '', ...[now, last, best, worst].map(formatRatio), `${runs}`]
  })
  const worse = trends
    .filter(({ isWorse }) => isWorse)
    .map(({ name, now, worst, runs }) => {
      const times = formatRatio(now / worst)
      return `! ${name}: ${formatRatio(now)}, ×${times} of the worst of ${runs} runs`
    })
  return [
    `Ratios, and those of the last runs on ${describeConditions(run)}`,
    '',
    renderTable(COLUMNS, rows),
    ...(worse.length === 0 ? ['no ratio is worse than in all of them'] : worse),
  ].join('\n')
}

/** Which code was measured, and when. */
export function describeRun({ commit, dirty, environment }: HistoryEntry): string {
  return `${commit}${dirty ? ' and changes' : ''}, ${environment.date.slice(0, 10)}`
}
