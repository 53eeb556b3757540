import type { BenchContext } from '../context.ts'
import type { ClosedLoop } from '../measuring/closed-loop.ts'
import { summarize } from '../measuring/figures.ts'
import type { Result, Sample } from '../measuring/race.ts'
import { rawSearches } from '../orders/pages.ts'
import { type LoadEffort, type LoadedIndex, measureLoad } from '../orders/stores.ts'
import { figure, ratioOf, timesCell } from '../reporting/comparison.ts'
import { formatWithRatio, renderTable } from '../reporting/table.ts'

interface Variant {
  name: string
  definition: object
  /** Into how many segments each shard is merged at most after the load; absent: not merged. */
  segments?: number
}

interface LoadedVariant {
  name: string
  index: string
  effort: LoadEffort
}

export type Indices = Readonly<Record<string, LoadedIndex>>

const PAGE_FIGURES = {
  'CPU of OpenSearch a page, µs': figure.openSearchCpu,
  'pages a second': figure.perSecond,
  'p50, ms': figure.p50,
}
const INDEX_FIGURES: Readonly<Record<string, (index: LoadedIndex) => number>> = {
  'load s': ({ loadSeconds }) => loadSeconds,
  'load CPU µs a document': ({ cpuPerDocument }) => cpuPerDocument,
  'MB on disk': ({ bytes }) => bytes / 1e6,
  segments: ({ segments }) => segments,
}

/** Creates an index for each variant, and fills it with all orders. */
export async function loadVariants(
  context: BenchContext,
  purpose: string,
  variants: readonly Variant[],
): Promise<LoadedVariant[]> {
  const loaded: LoadedVariant[] = []
  for (const [at, { name, definition, segments }] of variants.entries()) {
    const index = `${context.prefix}${purpose}-${at}`
    const effort = await measureLoad(context, { name, index, definition })
    if (segments !== undefined) await context.cluster.merge(index, segments)
    loaded.push({ name, index, effort })
  }
  return loaded
}

/** The service's searches of each index. */
export function indexSources(
  context: BenchContext,
  loaded: readonly LoadedVariant[],
  loop: ClosedLoop,
) {
  return loaded.map(({ name, index }) => rawSearches(context, { name, index, loop }))
}

/** Called long after the loads, since a node updates its disk statistics every ten seconds only. */
export async function readIndices({ cluster }: BenchContext, loaded: readonly LoadedVariant[]) {
  const indices: Record<string, LoadedIndex> = {}
  for (const { name, index, effort } of loaded) {
    indices[name] = { ...effort, ...(await cluster.figures(index)) }
  }
  return indices
}

/** A scenario's figures, with how many times those of `base` they are, for a program to read. */
export function timesOf(result: Result, base: string) {
  const contenders = Object.entries(result.samples).map(([of, samples]) => {
    const times = (by: (sample: Sample) => number) => ratioOf(result, { of, per: base, figure: by })
    const { openSearchCpu, perSecond, p50 } = figure
    const ratios = {
      openSearchCpu: times(openSearchCpu),
      perSecond: times(perSecond),
      p50Ms: times(p50),
    }
    return [of, { ...summarize(samples), times: ratios }]
  })
  return { case: result.name, ...Object.fromEntries(contenders), rounds: result.samples }
}

/** A table for each figure of a page: contenders as rows, scenarios as columns. */
export function renderTimes(results: readonly Result[], base: string): string[] {
  const names = [...new Set(results.map(({ name }) => name))]
  const contenders = new Set(results.flatMap(({ samples }) => Object.keys(samples)))
  return Object.entries(PAGE_FIGURES).map(([title, of]) => {
    const rows = [...contenders].map((contender) => {
      const cells = names.map((name) => {
        const result = results.find((one) => one.name === name && contender in one.samples)
        return result ? timesCell(result, contender, base, of) : '-'
      })
      return [contender, ...cells]
    })
    return renderTable([title, ...names], rows)
  })
}

/** The figures of each index, with how many times those of `base` they are. */
export function renderIndices(indices: Indices, base: string): string {
  const rows = Object.entries(indices).map(([name, index]) => {
    const cells = Object.values(INDEX_FIGURES).map((of) => {
      const compared = indices[base]
      return formatWithRatio(of(index), compared ? of(index) / of(compared) : Number.NaN)
    })
    return [name, ...cells]
  })
  return renderTable(['index', ...Object.keys(INDEX_FIGURES)], rows)
}
