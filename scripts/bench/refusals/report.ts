import { medianRatio } from '../measuring/figures.ts'
import { type HeatResult, type Sample, summarize } from '../measuring/race.ts'
import type { Ratios } from '../part.ts'
import { failed } from '../reporting/failures.ts'
import { formatFigure, formatPair, formatRatio, renderTable } from '../reporting/table.ts'
import type { RefusalComparison } from './compare.ts'

const NAMES = [
  'refusal',
  'bare/s',
  'api/s',
  'api÷bare',
  'bare µs',
  'API µs',
  'µs ÷',
  'OpenSearch µs',
  'Redis µs',
  'p50 ms',
] as const
const LEGEND = `bare: a route of Fastify that answers the same status, headers and bytes, with no log, in a process of its own
µs: CPU time an answer, of the process and behind it; p50: bare/api`

/** A refusal's figures on both sides, for a program to read. */
export function refusalFigures({ name, samples }: HeatResult) {
  const { bare = [], api = [] } = samples
  const per = (figure: (sample: Sample) => number) => medianRatio(api.map(figure), bare.map(figure))
  return {
    refusal: name,
    bare: summarize(bare),
    api: summarize(api),
    apiPerBare: per(({ perSecond }) => perSecond),
    cpuPerBare: per(({ cpu }) => cpu.api),
    rounds: samples,
  }
}

/** Refusing beside a bare route, as a table. */
export function renderRefusals({ stores, results }: RefusalComparison): string {
  const rows = results.map((result) => {
    const { refusal, bare, api, apiPerBare, cpuPerBare } = refusalFigures(result)
    return [
      failed(result) ? `! ${refusal}` : refusal,
      formatFigure(bare.perSecond),
      formatFigure(api.perSecond),
      formatRatio(apiPerBare),
      formatFigure(bare.cpu.api),
      formatFigure(api.cpu.api),
      formatRatio(cpuPerBare),
      formatFigure(api.cpu.openSearch),
      formatFigure(api.cpu.redis),
      formatPair(bare.p50Ms, api.p50Ms),
    ]
  })
  return [`Refusals; ${stores}`, '', renderTable(NAMES, rows), LEGEND].join('\n')
}

/** What of the figures is kept. */
export function refusalRatios(compared: readonly RefusalComparison[]): Ratios {
  return Object.fromEntries(
    compared.flatMap(({ stores, results }) =>
      results.map(refusalFigures).map(({ refusal, apiPerBare }) => {
        return [`api÷bare ${refusal}, ${stores}`, apiPerBare]
      }),
    ),
  )
}
