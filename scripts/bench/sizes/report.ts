import { type Sort, sorts } from '../../../src/orders/order-store.ts'
import { medianRatio } from '../measuring/figures.ts'
import { type HeatResult, type Sample, summarize } from '../measuring/race.ts'
import type { Ratios } from '../part.ts'
import { failed } from '../reporting/failures.ts'
import { formatPair, formatRatio, renderTable } from '../reporting/table.ts'
import { heatName, type SizesComparison, sideName } from './compare.ts'
import { depthNames, LIMIT } from './depths.ts'

const LEGEND = `first, 1% …: how deep the page is in the account's listing; columns: orders of the account; ÷: the API's p50 by that of a smaller
account, and the deepest page's by the first one's`
const DEEPEST = depthNames.at(-1) ?? 'first'

/** A page's p50 as the account grows and the listing is read on, at worst: the smaller, the better. */
export function sizesCosts(comparison: SizesComparison): Ratios {
  const costs = sorts.map((sort) => {
    const name = sort.replace(/_at_.*/, '')
    const growths = growthsOf(comparison).map(({ title, times }) => {
      const worst = Math.max(...depthNames.map((depth) => times(heatName(sort, depth))))
      return [`p50 ${title} ${name}, any depth`, worst]
    })
    const depth = Math.max(...comparison.sizes.map((size) => deepening(comparison, sort, size)))
    return [...growths, [`p50 ${DEEPEST}÷first ${name}, any size`, depth]]
  })
  return Object.fromEntries(costs.flat())
}

/** Every figure, for a program to read. */
export function sizesFigures(comparison: SizesComparison) {
  const { results, ...facts } = comparison
  return {
    ...facts,
    costs: sizesCosts(comparison),
    results: results.map(({ name, samples }) => {
      const sides = Object.entries(samples).map(([side, taken]) => [side, summarize(taken)])
      return { case: name, ...Object.fromEntries(sides), rounds: samples }
    }),
  }
}

/** What a page costs by depth and size, as tables. */
export function renderSizes(comparison: SizesComparison): string {
  const { sizes, seconds, results, queryCacheHits } = comparison
  const growths = growthsOf(comparison)
  const times = results.map((result) => [
    nameOf(result),
    ...sizes.map((size) =>
      formatPair(sampleOf(result, 'raw', size).p50Ms, sampleOf(result, 'api', size).p50Ms),
    ),
    ...growths.map((growth) => formatRatio(growth.times(result.name))),
  ])
  const deepened = sorts.map((sort) => [
    `${heatName(sort, DEEPEST)} ÷ first`,
    ...sizes.map((size) => formatRatio(deepening(comparison, sort, size))),
  ])
  const cpu = results.map((result) => [
    nameOf(result),
    ...sizes.map((size) => {
      const { openSearch, api } = sampleOf(result, 'api', size).cpu
      return formatPair(openSearch, api)
    }),
  ])
  const columns = sizes.map(String)
  return [
    `Pages of ${LIMIT} by the account's size and by depth, one request at a time; ${seconds} s each`,
    '',
    renderTable(
      ['p50 ms, raw/api', ...columns, ...growths.map(({ title }) => title)],
      [...times, ...deepened],
    ),
    '',
    renderTable(['CPU µs a page, OpenSearch/API', ...columns], cpu),
    LEGEND,
    `hits in the cache of queries, which has none in life: ${queryCacheHits}`,
  ].join('\n')
}

/** The largest account by the smallest, and by the one before it. */
function growthsOf({ sizes, results }: SizesComparison) {
  const largest = sizes.at(-1) ?? 0
  const others = new Set([sizes[0] ?? 0, sizes.at(-2) ?? 0])
  return [...others].map((size) => ({
    title: `${largest}÷${size}`,
    times(heat: string) {
      const result = results.find(({ name }) => name === heat)
      return medianRatio(p50s(result, largest), p50s(result, size))
    },
  }))
}

function deepening({ results }: SizesComparison, sort: Sort, size: number): number {
  const at = (heat: string) => results.find(({ name }) => name === heat)
  const [deepest, first] = [at(heatName(sort, DEEPEST)), at(heatName(sort, 'first'))]
  return medianRatio(p50s(deepest, size), p50s(first, size))
}

function p50s(result: HeatResult | undefined, size: number): number[] {
  return (result?.samples[sideName('api', size)] ?? []).map(({ p50Ms }) => p50Ms)
}

function sampleOf({ samples }: HeatResult, who: 'raw' | 'api', size: number): Sample {
  return summarize(samples[sideName(who, size)] ?? [])
}

function nameOf(result: HeatResult): string {
  return failed(result) ? `! ${result.name}` : result.name
}
