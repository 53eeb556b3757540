import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'
import { createClosedLoop } from '../measuring/closed-loop.ts'
import { type Result, raceLoops } from '../measuring/race.ts'
import { pageScenarios } from '../orders/pages.ts'
import { warmUpLoading } from '../orders/stores.ts'
import type { Part, Ratios } from '../part.ts'
import { failuresOf, figure, ratioOf } from '../reporting/comparison.ts'
import {
  type Indices,
  indexSources,
  loadVariants,
  readIndices,
  renderIndices,
  renderTimes,
  timesOf,
} from './index-variants.ts'

/** The fields of an index sort, and their directions. */
type IndexSort = readonly (readonly [field: string, direction: 'asc' | 'desc'])[]

export const indexSorts: Readonly<Record<string, IndexSort>> = {
  none: [],
  account: [['account_id', 'asc']],
  'account+created': [
    ['account_id', 'asc'],
    ['created_key', 'desc'],
    ['id', 'desc'],
  ],
  'account+updated': [
    ['account_id', 'asc'],
    ['updated_key', 'asc'],
    ['id', 'asc'],
  ],
}
/** The index sort of the service. */
export const BASE = 'account'
const CREATED = 'account+created'
const UPDATED = 'account+updated'
/** Two indices: each listing uses the one with its own sort. */
export const ONE_PER_SORT = 'one per sort'

/** The service's definition of an index of orders, with another index sort. */
export function definitionOf(name: string): object {
  const { 'sort.field': _field, 'sort.order': _order, ...settings } = ordersDefinition.settings
  const sort = indexSorts[name] ?? []
  if (sort.length === 0) return { ...ordersDefinition, settings }
  const fields = { 'sort.field': sort.map(([field]) => field) }
  const orders = { 'sort.order': sort.map(([, direction]) => direction) }
  return { ...ordersDefinition, settings: { ...settings, ...fields, ...orders } }
}

/** The same orders and searches in indices of different sorts. */
export const definitionsPart: Part = {
  name: 'definitions',
  about: 'the index sort against alternatives',
  async measure(context, scope) {
    const { cases, options } = context
    const loop = scope.use(createClosedLoop(context.openSearch, options.connections))
    await warmUpLoading(context)
    const variants = Object.keys(indexSorts).map((name) => ({
      name,
      definition: definitionOf(name),
    }))
    const loaded = await loadVariants(context, 'definition', variants)
    const scenarios = await pageScenarios(context, cases, indexSources(context, loaded, loop))
    const compared = []
    for (const state of options.states) {
      for (const { index } of state === 'merged' ? loaded : []) await context.cluster.merge(index)
      const results = await raceLoops(scenarios, context)
      compared.push({ state, indices: await readIndices(context, loaded), results })
    }
    return {
      tables: compared.map(({ state, indices, results }) => {
        const title = `Index definitions by their sort; the indices ${state}; ×: times that of ${BASE}`
        const paired = { ...indices, [ONE_PER_SORT]: pairOf(indices) }
        const times = renderTimes(results.map(withPair), BASE)
        return [title, ...times, renderIndices(paired, BASE)].join('\n\n')
      }),
      figures: compared.map((comparison) => {
        return { ...comparison, results: comparison.results.map((result) => timesOf(result, BASE)) }
      }),
      costs: definitionCosts(compared[0]?.results ?? []),
      failures: compared.flatMap(({ results }) => results.flatMap(failuresOf)),
    }
  },
}

/** Adds the pair of indices, which is measured by the one that answers the scenario. */
export function withPair({ name, samples }: Result): Result {
  const answering = samples[name.includes('updated') ? UPDATED : CREATED] ?? []
  return { name, samples: { ...samples, [ONE_PER_SORT]: answering } }
}

function pairOf({ [CREATED]: created, [UPDATED]: updated }: Indices) {
  if (!created || !updated) throw new Error('an index of the pair is missing')
  return {
    loadSeconds: created.loadSeconds + updated.loadSeconds,
    cpuPerDocument: created.cpuPerDocument + updated.cpuPerDocument,
    documents: created.documents + updated.documents,
    bytes: created.bytes + updated.bytes,
    segments: created.segments + updated.segments,
  }
}

/** CPU time of OpenSearch for a page with the service's definition, by that with the best of the others. */
export function definitionCosts(results: readonly Result[]): Ratios {
  const others = Object.keys(indexSorts).filter((name) => name !== BASE)
  const costs = results.map((result) => {
    const ratios = others.map((other) =>
      ratioOf(result, { of: BASE, per: other, figure: figure.openSearchCpu }),
    )
    return [`OpenSearch CPU ${BASE}÷best other ${result.name}`, Math.max(...ratios)]
  })
  return Object.fromEntries(costs)
}
