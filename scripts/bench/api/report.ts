import { medianRatio } from '../measuring/figures.ts'
import { type HeatResult, summarize } from '../measuring/race.ts'
import { type Case, meanRows } from '../orders/cases.ts'
import { failed } from '../reporting/failures.ts'
import { formatFigure, formatPair, formatRatio, renderTable } from '../reporting/table.ts'
import type { ApiComparison } from './compare.ts'

const NAMES = ['case', 'rows', 'raw/s', 'api/s', 'api÷raw', 'p50 ms', 'p99 ms'] as const
const CPU_NAMES = ['OpenSearch µs', 'API µs', 'Redis µs'] as const
const LEGEND = `raw: the search that the service sends, sent by itself; api: GET /v1/orders
p50, p99, OpenSearch: raw/api; µs: CPU time a request; rows: orders a page`

/** A case's figures of both sides, for a program to read. */
export function apiFigures({ name, samples }: HeatResult) {
  const { raw = [], api = [] } = samples
  const rate = ({ perSecond }: { perSecond: number }) => perSecond
  return {
    case: name,
    raw: summarize(raw),
    api: summarize(api),
    apiPerRaw: medianRatio(api.map(rate), raw.map(rate)),
    rounds: samples,
  }
}

/** The service beside the raw search, as a table. */
export function renderApi(
  { state, index, queryCacheHits, results }: ApiComparison,
  cases: readonly Case[],
): string {
  const rows = results.map((result, at) => {
    const { raw, api, apiPerRaw } = apiFigures(result)
    const of = cases[at]
    return [
      failed(result) ? `! ${result.name}` : result.name,
      of ? Math.round(meanRows(of)).toString() : '-',
      formatFigure(raw.perSecond),
      formatFigure(api.perSecond),
      formatRatio(apiPerRaw),
      formatPair(raw.p50Ms, api.p50Ms),
      formatPair(raw.p99Ms, api.p99Ms),
      formatPair(raw.cpu.openSearch, api.cpu.openSearch),
      formatFigure(api.cpu.api),
      formatFigure(api.cpu.redis),
    ]
  })
  const title = `The service and its search; the index ${state}, ${index.segments} segment(s), ${Math.round(index.bytes / 1e6)} MB`
  const hits = `hits in the cache of queries, which has none in life: ${queryCacheHits}`
  return [title, '', renderTable([...NAMES, ...CPU_NAMES], rows), LEGEND, hits].join('\n')
}
