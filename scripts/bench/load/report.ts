import { median, medianRatio } from '../measuring/figures.ts'
import { formatFigure, formatRatio, renderTable } from '../reporting/table.ts'
import { type LoadComparison, type LoadSample, perSecond } from './compare.ts'

const NAMES = ['', 'documents/s', 'orders/s', 'OpenSearch µs', 'client µs', 'peak MB'] as const
const LEGEND = `raw: the same documents in bulk requests, one at a time; load: index load, in a process of its own
µs: CPU time a document; client: who sends them; peak MB: the most memory that the process of the load had`

/** The figures of both, for a program to read. */
export function loadFigures({ raw, load, ...facts }: LoadComparison) {
  return {
    ...facts,
    raw: summarize(raw),
    load: {
      ...summarize(load),
      ordersPerSecond: median(load.map(({ orders, seconds }) => orders / seconds)),
      peakBytes: Math.max(...load.map(({ peakBytes }) => peakBytes)),
    },
    loadPerRaw: medianRatio(load.map(perSecond), raw.map(perSecond)),
    rounds: { raw, load },
  }
}

/** The load beside raw bulks, as a table. */
export function renderLoad(comparison: LoadComparison): string {
  const { orders, documents, documentsABulk, raw, load, loadPerRaw } = loadFigures(comparison)
  const rows = [
    ['raw', raw.perSecond, Number.NaN, raw.openSearch, raw.client, Number.NaN],
    [
      'load',
      load.perSecond,
      load.ordersPerSecond,
      load.openSearch,
      load.client,
      load.peakBytes / 2 ** 20,
    ],
  ] as const
  const title = `The load of ${orders} orders, ${documents} documents, ${Math.round(documentsABulk)} a bulk, and raw bulks`
  const table = renderTable(
    NAMES,
    rows.map(([name, ...figures]) => [name, ...figures.map(formatFigure)]),
  )
  return [title, '', table, `load÷raw: ${formatRatio(loadPerRaw)}`, LEGEND].join('\n')
}

function summarize(samples: readonly LoadSample[]) {
  return {
    perSecond: median(samples.map(perSecond)),
    openSearch: median(samples.map(({ cpu }) => cpu.openSearch)),
    client: median(samples.map(({ cpu }) => cpu.client)),
  }
}
