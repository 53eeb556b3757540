import { medianRatio } from '../measuring/figures.ts'
import { type HeatResult, type Sample, summarize } from '../measuring/race.ts'
import { type Case, meanRows } from '../orders/cases.ts'
import type { Ratios } from '../part.ts'
import { failed } from '../reporting/failures.ts'
import { formatFigure, formatRatio, renderTable } from '../reporting/table.ts'
import type { ApiComparison } from './compare.ts'

const RATES = [
  'case',
  'rows',
  'raw/s',
  'api/s',
  'api÷raw',
  'api÷straightforward',
  'embedded÷raw',
] as const
const TIMES = ['p50 ms', 'p99 ms'] as const
const COSTS = ['case', 'OpenSearch µs', 'Redis µs', 'process µs', 'MB'] as const
const LEGEND = `raw: the search that the service sends, sent by itself; api: GET /v1/orders
straightforward: the same as most would write it; embedded: the service alone, one process and no OpenSearch
p50, p99: raw/api/straightforward/embedded; rows: orders a page
µs: CPU time a request; OpenSearch: raw/api/straightforward; Redis: api/straightforward
process µs, and its resident MB at the end of the case: api/straightforward/embedded`

/** A case's figures of all sides, for a program to read. */
export function apiFigures({ name, samples }: HeatResult) {
  const { raw = [], api = [], straightforward = [], embedded = [] } = samples
  const per = (ones: readonly Sample[], others: readonly Sample[]) =>
    medianRatio(ones.map(rate), others.map(rate))
  return {
    case: name,
    raw: summarize(raw),
    api: summarize(api),
    straightforward: summarize(straightforward),
    embedded: summarize(embedded),
    apiPerRaw: per(api, raw),
    apiPerStraightforward: per(api, straightforward),
    embeddedPerRaw: per(embedded, raw),
    p50PerRaw: medianRatio(api.map(p50), raw.map(p50)),
    rounds: samples,
  }
}

const rate = ({ perSecond }: Sample) => perSecond
const p50 = ({ p50Ms }: Sample) => p50Ms

/** The service beside the others, as two tables: what they answer, and what it costs. */
export function renderApi(
  { state, index, queryCacheHits, results }: ApiComparison,
  cases: readonly Case[],
): string {
  const figures = results.map((result, at) => {
    const of = cases[at]
    const { case: name, ...rest } = apiFigures(result)
    const rows = of ? Math.round(meanRows(of)).toString() : '-'
    return { ...rest, name: failed(result) ? `! ${name}` : name, rows }
  })
  const rates = figures.map(({ name, rows, raw, api, straightforward, embedded, ...per }) => [
    name,
    rows,
    formatFigure(raw.perSecond),
    formatFigure(api.perSecond),
    formatRatio(per.apiPerRaw),
    formatRatio(per.apiPerStraightforward),
    formatRatio(per.embeddedPerRaw),
    formatAll([raw, api, straightforward, embedded], p50),
    formatAll([raw, api, straightforward, embedded], ({ p99Ms }) => p99Ms),
  ])
  const costs = figures.map(({ name, raw, api, straightforward, embedded }) => [
    name,
    formatAll([raw, api, straightforward], ({ cpu }) => cpu.openSearch),
    formatAll([api, straightforward], ({ cpu }) => cpu.redis),
    formatAll([api, straightforward, embedded], ({ cpu }) => cpu.api),
    formatAll([api, straightforward, embedded], megabytes),
  ])
  const title = `The service and its search; the index ${state}, ${index.segments} segment(s), ${Math.round(index.bytes / 1e6)} MB`
  return [
    title,
    '',
    renderTable([...RATES, ...TIMES], rates),
    '',
    renderTable(COSTS, costs),
    `most resident memory of any case: ${mostMemory(results)}`,
    LEGEND,
    `hits in the cache of queries, which has none in life: ${queryCacheHits}`,
  ].join('\n')
}

function formatAll(samples: readonly Sample[], figure: (sample: Sample) => number): string {
  return samples.map((sample) => formatFigure(figure(sample))).join('/')
}

function megabytes({ residentBytes = Number.NaN }: Sample): number {
  return residentBytes / 2 ** 20
}

function mostMemory(results: readonly HeatResult[]): string {
  const most = (side: string) =>
    Math.max(...results.flatMap(({ samples }) => (samples[side] ?? []).map(megabytes)))
  return ['api', 'straightforward', 'embedded']
    .map((side) => `${side} ${formatFigure(most(side))} MB`)
    .join(', ')
}

/** What of the figures is kept: of one run, so that another machine's are like them. */
export function apiRatios(results: readonly HeatResult[]): { ratios: Ratios; costs: Ratios } {
  const figures = results.map(apiFigures)
  return {
    ratios: Object.fromEntries(
      figures.flatMap(({ case: name, apiPerRaw, apiPerStraightforward, embeddedPerRaw }) => [
        [`api÷raw ${name}`, apiPerRaw],
        [`api÷straightforward ${name}`, apiPerStraightforward],
        [`embedded÷raw ${name}`, embeddedPerRaw],
      ]),
    ),
    costs: Object.fromEntries(
      figures.map(({ case: name, p50PerRaw }) => [`p50 api÷raw ${name}`, p50PerRaw]),
    ),
  }
}
