import { formatRatio, renderTable } from '../reporting/table.ts'
import type { HistoryEntry } from './entry.ts'
import { isAlike, type Trend, trendsOf } from './trends.ts'

const NAMES = ['ratio', 'now', 'last', 'best', 'worst', 'runs'] as const

/** How a run compares with those before it. */
export function renderTrends(run: HistoryEntry, past: readonly HistoryEntry[]): string {
  const { facts, options } = run
  const form = `${facts.cpus} × ${facts.cpu} with ${options.orders} orders`
  const parts = Object.keys(run.parts)
  const latest = past.findLast(
    (entry) => isAlike(entry, run) && parts.some((part) => entry.parts[part] !== undefined),
  )
  if (latest === undefined) return `The history has no run of ${parts.join(', ')} on ${form} yet`
  const trends = trendsOf(run, past)
  const worse = trends.filter(({ isWorse }) => isWorse)
  return [
    `Beside the last runs on ${form}; the latest: ${describeRun(latest)}`,
    '',
    renderTable(NAMES, trends.map(cells)),
    ...(worse.length === 0
      ? ['none is worse than in all of them']
      : ['! worse than in all of them:', ...worse.map(describeWorse)]),
  ].join('\n')
}

/** Which code was measured, and when. */
export function describeRun({ commit, dirty, facts }: HistoryEntry): string {
  return `${commit}${dirty ? ' and changes' : ''}, ${facts.date.slice(0, 10)}`
}

function cells({ name, now, past, isWorse }: Trend): string[] {
  const figures = [now, past?.last, past?.best, past?.worst].map((value) =>
    formatRatio(value ?? Number.NaN),
  )
  return [isWorse ? `! ${name}` : name, ...figures, `${past?.runs ?? 0}`]
}

function describeWorse({ name, now, past }: Trend): string {
  const times = formatRatio(now / (past?.worst ?? Number.NaN))
  return `! ${name}: ${formatRatio(now)}, ×${times} of the worst of ${past?.runs} runs`
}
