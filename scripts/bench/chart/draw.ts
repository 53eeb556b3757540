import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { HistoryEntry } from '../history/entry.ts'
import { canBeDrawn, renderChart } from './chart.ts'

export const CHART_FILE = fileURLToPath(new URL('../chart.svg', import.meta.url))

/** Draws the latest run that there is a chart of; answers whether there was one. */
export function drawChart(entries: readonly HistoryEntry[]): boolean {
  const latest = entries.findLast(canBeDrawn)
  if (latest === undefined) return false
  writeFileSync(CHART_FILE, renderChart(latest))
  return true
}
