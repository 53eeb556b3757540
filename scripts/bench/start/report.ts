import { median, medianRatio } from '../measuring/figures.ts'
import type { Ratios } from '../part.ts'
import { formatFigure, formatRatio, renderTable } from '../reporting/table.ts'
import type { StartComparison } from './compare.ts'

const NAMES = ['program', 'ms', 'fastest ms', '÷ bare'] as const
const LABELS: Readonly<Record<string, string>> = {
  bare: 'a bare route of Fastify',
  source: 'serve, node src/main.ts (types are stripped)',
  built: 'serve, node dist/main.js (npm run build)',
}

/** Each program's figures, for a program to read. */
export function startFigures({ orders, samples }: StartComparison) {
  const { bare = [] } = samples
  const programs = Object.entries(samples).map(([program, ms]) => ({
    program,
    ms: median(ms),
    fastestMs: Math.min(...ms),
    perBare: medianRatio(ms, bare),
  }))
  return { orders, programs, samples }
}

/** The starts, as a table. */
export function renderStart(comparison: StartComparison): string {
  const { orders, programs } = startFigures(comparison)
  const rows = programs.map(({ program, ms, fastestMs, perBare }) => [
    LABELS[program] ?? program,
    formatFigure(ms),
    formatFigure(fastestMs),
    formatRatio(perBare),
  ])
  const title = `From the start of the process to the first right answer; the embedded store with ${orders} orders`
  return [title, '', renderTable(NAMES, rows)].join('\n')
}

/** What of the figures is kept. */
export function startCosts(comparison: StartComparison): Ratios {
  const { programs } = startFigures(comparison)
  const service = programs.filter(({ program }) => program !== 'bare')
  return Object.fromEntries(
    service.map(({ program, perBare }) => [`start÷bare ${program}`, perBare]),
  )
}
