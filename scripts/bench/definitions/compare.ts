import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchContext } from '../context.ts'
import type { IndexFacts } from '../measuring/cluster.ts'
import { CPU_RENEWAL_MS, createCpuReader, type ReadCpu } from '../measuring/cpu.ts'
import { createGenerator, type Generator } from '../measuring/generator.ts'
import { type Heat, type HeatResult, race, type Side } from '../measuring/race.ts'
import type { IndexState } from '../options.ts'
import { checkAnswers, searchIds } from '../orders/check.ts'
import { loadDocuments } from '../orders/loader.ts'
import { recordSearches } from '../orders/searches.ts'
import { type DefinitionName, definitionNames, definitionOf } from './definitions.ts'

/** What it took to fill an index. */
interface LoadEffort {
  /** From the first document until all can be searched. */
  loadSeconds: number
  /** CPU time of OpenSearch until the last merge had ended, microseconds a document. */
  cpuPerDocument: number
}

/** The same, and what has come of it. */
export type LoadedIndex = LoadEffort & IndexFacts

export interface DefinitionComparison {
  state: IndexState
  indices: Record<DefinitionName, LoadedIndex>
  /** The same raw searches, each side with its own index. */
  results: HeatResult[]
}

/** The JVM compiles what it runs for the first time, so the first index would pay for all. */
const WARM_UP_DOCUMENTS = 20_000

/** The same orders and searches in indices of different definitions; for each state of them. */
export async function compareDefinitions(context: BenchContext): Promise<DefinitionComparison[]> {
  const { cluster, openSearch, options, redis, signal, log } = context
  const readCpu = createCpuReader({ client: cluster.client, redis, api: async () => 0 })
  const generator = createGenerator(openSearch, options.connections)
  try {
    await loadWarmUp(context)
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

async function loadWarmUp(context: BenchContext): Promise<void> {
  const { cluster, orders, signal } = context
  const index = indexName(context, 'warm-up')
  await cluster.create(index, definitionOf('account'))
  const lines = orders.bulkLines().take(WARM_UP_DOCUMENTS)
  await loadDocuments(lines, { client: cluster.client, index, signal })
  await cluster.settle(index)
  await cluster.remove(index)
}

async function load(
  context: BenchContext,
  name: DefinitionName,
  readCpu: ReadCpu,
): Promise<LoadEffort> {
  const { cluster, orders, signal, log } = context
  const index = indexName(context, name)
  await cluster.create(index, definitionOf(name))
  await sleep(CPU_RENEWAL_MS)
  const before = await readCpu()
  const startedAt = performance.now()
  await loadDocuments(orders.bulkLines(), { client: cluster.client, index, signal })
  await cluster.refresh(index)
  const loadSeconds = (performance.now() - startedAt) / 1000
  await cluster.settle(index)
  const after = await readCpu()
  log(`${name}: ${orders.count} orders loaded in ${loadSeconds.toFixed(1)} s`)
  return { loadSeconds, cpuPerDocument: (after.openSearch - before.openSearch) / orders.count }
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
