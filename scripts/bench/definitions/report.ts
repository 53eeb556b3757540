import { median, medianRatio } from '../measuring/figures.ts'
import { type HeatResult, type Sample, summarize } from '../measuring/race.ts'
import type { LoadedIndex } from '../orders/measured-load.ts'
import type { Ratios } from '../part.ts'
import { failed } from '../reporting/failures.ts'
import { indexFigures, pageFigures } from '../reporting/index-figures.ts'
import { formatWithRatio, renderTable } from '../reporting/table.ts'
import type { DefinitionComparison } from './compare.ts'
import { BASE, type DefinitionName, definitionNames } from './definitions.ts'

/** Two indices, each for the sort that is its own. */
export const ONE_PER_SORT = 'one per sort'

const CREATED: DefinitionName = 'account+created'
const UPDATED: DefinitionName = 'account+updated'

/** A case's figures in each index and what they are times those of the service's definition, for a program. */
export function definitionFigures({ name, samples }: HeatResult) {
  const compared = definitionNames.map((definition) => {
    const own = samples[definition] ?? []
    const base = samples[BASE] ?? []
    const ratio = (figure: (sample: Sample) => number) =>
      medianRatio(own.map(figure), base.map(figure))
    const times = {
      openSearchCpu: ratio(({ cpu }) => cpu.openSearch),
      perSecond: ratio(({ perSecond }) => perSecond),
      p50Ms: ratio(({ p50Ms }) => p50Ms),
    }
    return [definition, { ...summarize(own), times }]
  })
  return { case: name, ...Object.fromEntries(compared), rounds: samples }
}

/** What a page costs the server with the service's definition by what it costs with the best of the others. */
export function definitionCosts(results: readonly HeatResult[]): Ratios {
  const cpu = (samples: readonly Sample[] = []) => samples.map((sample) => sample.cpu.openSearch)
  const others = definitionNames.filter((definition) => definition !== BASE)
  const costs = results.map(({ name, samples }) => {
    const ratios = others.map((other) => medianRatio(cpu(samples[BASE]), cpu(samples[other])))
    return [`OpenSearch CPU ${BASE}÷best other ${name}`, Math.max(...ratios)]
  })
  return Object.fromEntries(costs)
}

/** The definitions side by side: a table for each figure, times what the service's definition takes. */
export function renderDefinitions({ state, indices, results }: DefinitionComparison): string {
  const columns = [...definitionNames, ONE_PER_SORT]
  const tables = Object.entries(pageFigures).map(([title, figure]) =>
    renderTable(
      [title, ...columns],
      results.map((result) => [
        failed(result) ? `! ${result.name}` : result.name,
        ...columns.map((column) => cell(result, column, figure)),
      ]),
    ),
  )
  const names = Object.keys(indexFigures)
  const rows = columns.map((column) => [column, ...indexCells(indices, column)])
  const title = `Index definitions by their sort; the indices ${state}; ×: times that of ${BASE}`
  return [title, ...tables, renderTable(['index', ...names], rows)].join('\n\n')
}

/** Which index answers a case, of the definition in a column. */
export function indexFor(column: string, caseName: string): string {
  if (column !== ONE_PER_SORT) return column
  return caseName.includes('updated') ? UPDATED : CREATED
}

function cell({ name, samples }: HeatResult, column: string, figure: (sample: Sample) => number) {
  const own = (samples[indexFor(column, name)] ?? []).map(figure)
  return formatWithRatio(median(own), medianRatio(own, (samples[BASE] ?? []).map(figure)))
}

function indexCells(indices: Record<DefinitionName, LoadedIndex>, column: string): string[] {
  const own =
    column === ONE_PER_SORT
      ? [indices[CREATED], indices[UPDATED]]
      : [indices[column as DefinitionName]]
  return Object.values(indexFigures).map((figure) => {
    const value = own.reduce((total, index) => total + figure(index), 0)
    return formatWithRatio(value, value / figure(indices[BASE]))
  })
}
