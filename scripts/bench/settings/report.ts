import { median, medianRatio } from '../measuring/figures.ts'
import { type HeatResult, type Sample, summarize } from '../measuring/race.ts'
import type { LoadedIndex } from '../orders/measured-load.ts'
import { indexFigures, pageFigures } from '../reporting/index-figures.ts'
import { formatFigure, formatWithRatio, renderTable } from '../reporting/table.ts'
import type { SettingsComparison } from './compare.ts'
import { heatOf } from './heats.ts'
import { AS_DEFINED } from './indices.ts'
import { AS_THE_SERVICE } from './searches.ts'

/** Every side of every heat, and what it is times the first, for a program. */
export function settingsFigures({ searches, indices, sockets, ...rest }: SettingsComparison) {
  return {
    searches: searches.map(heatFigures),
    indices: indices.map(heatFigures),
    sockets: sockets.map(heatFigures),
    ...rest,
  }
}

function heatFigures(heat: HeatResult) {
  const sides = Object.entries(heat.samples).map(([side, samples]) => {
    const times = {
      openSearchCpu: timesFirst(heat, side, ({ cpu }) => cpu.openSearch),
      perSecond: timesFirst(heat, side, ({ perSecond }) => perSecond),
      p50Ms: timesFirst(heat, side, ({ p50Ms }) => p50Ms),
    }
    return [side, { ...summarize(samples), times }]
  })
  return { case: heat.name, ...Object.fromEntries(sides), rounds: heat.samples }
}

function timesFirst({ samples }: HeatResult, side: string, figure: (sample: Sample) => number) {
  const [first = []] = Object.values(samples)
  return medianRatio((samples[side] ?? []).map(figure), first.map(figure))
}

/** All of it as tables. */
export function renderSettings(comparison: SettingsComparison): string[] {
  const { searches, asWritten, indices, loaded, sockets } = comparison
  return [
    [
      `Ways to ask for the same page; ×: times what "${AS_THE_SERVICE}" takes`,
      ...heatTables(searches),
      renderTable(
        ['order comes back', ''],
        Object.entries(asWritten).map(([name, same]) => [name, same ? 'as written' : 'otherwise']),
      ),
    ].join('\n\n'),
    [
      `Ways to make the same index; ×: times what "${AS_DEFINED}" takes`,
      ...heatTables(indices),
      renderIndices(loaded),
    ].join('\n\n'),
    ['Connections to OpenSearch, first case', ...sockets.map(renderSockets)].join('\n\n'),
  ]
}

function heatTables(results: readonly HeatResult[]): string[] {
  const cases = [...new Set(results.map(({ name }) => name))]
  const sides = new Set(results.flatMap(({ samples }) => Object.keys(samples)))
  return Object.entries(pageFigures).map(([title, figure]) => {
    const rows = [...sides].map((side) => {
      const heats = cases.map((name) => heatOf(results, name, side))
      return [side, ...heats.map((heat) => (heat ? cell(heat, side, figure) : '-'))]
    })
    return renderTable([title, ...cases], rows)
  })
}

function cell(heat: HeatResult, side: string, figure: (sample: Sample) => number): string {
  const own = (heat.samples[side] ?? []).map(figure)
  return formatWithRatio(median(own), timesFirst(heat, side, figure))
}

function renderIndices(loaded: Record<string, LoadedIndex>): string {
  const base = loaded[AS_DEFINED]
  const rows = Object.entries(loaded).map(([name, index]) => {
    const cells = Object.values(indexFigures).map((figure) =>
      formatWithRatio(figure(index), base ? figure(index) / figure(base) : Number.NaN),
    )
    return [name, ...cells]
  })
  return renderTable(['index', ...Object.keys(indexFigures)], rows)
}

function renderSockets({ name, samples }: HeatResult): string {
  const rows = Object.entries(samples).map(([sockets, own]) => {
    const { cpu, perSecond, p50Ms, p99Ms } = summarize(own)
    return [sockets, ...[cpu.openSearch, perSecond, p50Ms, p99Ms].map(formatFigure)]
  })
  return renderTable([`connections, ${name}`, 'OpenSearch µs', 'pages/s', 'p50 ms', 'p99 ms'], rows)
}
