import type { BenchContext } from '../context.ts'
import { createCpuReader, type ReadCpu } from '../measuring/cpu.ts'
import { createGenerator, type Generator } from '../measuring/generator.ts'
import { type Heat, type HeatResult, race, type Side } from '../measuring/race.ts'
import type { IndexState } from '../options.ts'
import { checkAnswers, searchIds } from '../orders/check.ts'
import {
  type LoadEffort,
  type LoadedIndex,
  measureLoad,
  warmUpLoading,
} from '../orders/measured-load.ts'
import { recordSearches } from '../orders/searches.ts'
import { type DefinitionName, definitionNames, definitionOf } from './definitions.ts'

export interface DefinitionComparison {
  state: IndexState
  indices: Record<DefinitionName, LoadedIndex>
  /** The same raw searches, each side with its own index. */
  results: HeatResult[]
}

/** The same orders and searches in indices of different definitions; for each state of them. */
export async function compareDefinitions(context: BenchContext): Promise<DefinitionComparison[]> {
  const { cluster, openSearch, options, redis, signal, log } = context
  const readCpu = createCpuReader({ client: cluster.client, redis, api: async () => 0 })
  const generator = createGenerator(openSearch, options.connections)
  try {
    await warmUpLoading(context)
    const efforts = new Map<DefinitionName, LoadEffort>()
    for (const name of definitionNames) efforts.set(name, await load(context, name, readCpu))
    const heats = await prepareHeats(context, generator)
    const { rounds, seconds, states } = options
    const compared: DefinitionComparison[] = []
    for (const state of states) {
      const indices: [DefinitionName, LoadedIndex][] = []
      for (const [name, effort] of efforts) {
        const index = indexName(context, name)
        if (state === 'merged') await cluster.merge(index)
        indices.push([name, { ...effort, ...(await cluster.facts(index)) }])
      }
      const results = await race(heats, { rounds, seconds, readCpu, signal, log })
      const byName = Object.fromEntries(indices) as Record<DefinitionName, LoadedIndex>
      compared.push({ state, indices: byName, results })
    }
    return compared
  } finally {
    await generator.close()
  }
}

const indexName = ({ prefix }: BenchContext, name: string) =>
  `${prefix}definition-${name.replace('+', '-')}`

async function load(
  context: BenchContext,
  name: DefinitionName,
  readCpu: ReadCpu,
): Promise<LoadEffort> {
  const index = indexName(context, name)
  const effort = await measureLoad(context, { index, definition: definitionOf(name), readCpu })
  const { orders, log } = context
  log(`${name}: ${orders.count} orders loaded in ${effort.loadSeconds.toFixed(1)} s`)
  return effort
}

async function prepareHeats(context: BenchContext, generator: Generator): Promise<Heat[]> {
  const { cases, openSearch, signal, log } = context
  const heats: Heat[] = []
  for (const one of cases) {
    log(`checking ${one.places.length} pages in each index: ${one.name}`)
    const sides: Side[] = []
    for (const name of definitionNames) {
      const { places, limit } = one
      const index = indexName(context, name)
      const requests = await recordSearches({ urls: openSearch.urls, index, places, limit })
      const asked = { generator, requests, of: one, size: limit + 1, readIds: searchIds, signal }
      sides.push({ name, generator, requests: await checkAnswers(asked) })
    }
    heats.push({ name: one.name, sides })
  }
  return heats
}
