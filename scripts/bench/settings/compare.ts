import type { BenchContext } from '../context.ts'
import { createCpuReader, type ReadCpu } from '../measuring/cpu.ts'
import { createGenerator, type Generator } from '../measuring/generator.ts'
import { type Heat, type HeatResult, race, type Side } from '../measuring/race.ts'
import type { Case } from '../orders/cases.ts'
import { checkAnswers, searchIds } from '../orders/check.ts'
import {
  type LoadEffort,
  type LoadedIndex,
  measureLoad,
  warmUpLoading,
} from '../orders/measured-load.ts'
import { recordSearches } from '../orders/searches.ts'
import { inSmallHeats } from './heats.ts'
import { AS_DEFINED, definitionWith, indexVariants, variantsFor } from './indices.ts'
import { probeSources } from './probe.ts'
import { AS_THE_SERVICE, searchVariants } from './searches.ts'
import { socketHeats } from './sockets.ts'

export interface SettingsComparison {
  /** The same pages, asked for in other ways, all of the index as the service defines it. */
  searches: HeatResult[]
  /** Which of these ways hand back a source byte for byte. */
  asWritten: Record<string, boolean>
  /** The service's own searches, each side with its own index. */
  indices: HeatResult[]
  loaded: Record<string, LoadedIndex>
  /** The service's own searches over so many connections. */
  sockets: HeatResult[]
}

/** Enough to tell what a setting does to a page, a larger one, the other sort and an account of few orders. */
const CASES = ['large created 20', 'large created 100', 'large updated 20', 'small created 20']

/** Everything about a search and an index that can be set, beside what the service sets. */
export async function compareSettings(context: BenchContext): Promise<SettingsComparison> {
  const { cluster, openSearch, options, redis, signal, log } = context
  const { rounds, seconds } = options
  const readCpu = createCpuReader({ client: cluster.client, redis, api: async () => 0 })
  const racing = { rounds, seconds, readCpu, signal, log }
  const generator = createGenerator(openSearch, options.connections)
  try {
    const efforts = await loadAll(context, readCpu)
    const searchHeats = await prepareHeats(context, (one) => searchSides(context, generator, one))
    const indexHeats = await prepareHeats(context, (one) =>
      indexSides(context, generator, { one, names: Object.keys(efforts) }),
    )
    const asWritten = await probeSources(context, generator)
    const searches = await race(searchHeats.flatMap(inSmallHeats), racing)
    const indices = await race(indexHeats.flatMap(inSmallHeats), racing)
    const loaded = await readFacts(context, efforts)
    const own = searchHeats[0]?.sides.find(({ name }) => name === AS_THE_SERVICE)
    const { heats, close } = socketHeats(context, own?.requests ?? [])
    try {
      return { searches, asWritten, indices, loaded, sockets: await race(heats, racing) }
    } finally {
      await close()
    }
  } finally {
    await generator.close()
  }
}

function indexName({ prefix }: BenchContext, name: string): string {
  return `${prefix}settings-${Object.keys(indexVariants).indexOf(name)}`
}

async function loadAll(context: BenchContext, readCpu: ReadCpu) {
  const { cluster, orders, log } = context
  await warmUpLoading(context, orders.count)
  const efforts: Record<string, LoadEffort> = {}
  for (const name of variantsFor((await cluster.version()).nodes)) {
    const { segments = 1, ...variant } = indexVariants[name] ?? {}
    const index = indexName(context, name)
    const effort = await measureLoad(context, {
      index,
      definition: definitionWith(variant),
      readCpu,
    })
    log(`${name}: ${orders.count} orders loaded in ${effort.loadSeconds.toFixed(1)} s`)
    if (segments !== 'as filled') await cluster.merge(index, segments)
    efforts[name] = effort
  }
  return efforts
}

/** Long after the loads: a node counts what is on its disk every ten seconds, and not again sooner. */
async function readFacts(context: BenchContext, efforts: Readonly<Record<string, LoadEffort>>) {
  const loaded: Record<string, LoadedIndex> = {}
  for (const [name, effort] of Object.entries(efforts)) {
    loaded[name] = { ...effort, ...(await context.cluster.facts(indexName(context, name))) }
  }
  return loaded
}

async function prepareHeats(
  { cases, log }: BenchContext,
  prepareSides: (one: Case) => Promise<Side[]>,
): Promise<Heat[]> {
  const heats: Heat[] = []
  for (const one of cases.filter(({ name }) => CASES.includes(name))) {
    log(`checking ${one.places.length} pages in each way: ${one.name}`)
    heats.push({ name: one.name, sides: await prepareSides(one) })
  }
  return heats
}

async function searchSides(
  context: BenchContext,
  generator: Generator,
  one: Case,
): Promise<Side[]> {
  const { openSearch, signal } = context
  const { places, limit } = one
  const index = indexName(context, AS_DEFINED)
  const own = await recordSearches({ urls: openSearch.urls, index, places, limit })
  const sides: Side[] = []
  for (const [name, { change, readIds = searchIds }] of Object.entries(searchVariants)) {
    const requests = own.map(change)
    const asked = { generator, requests, of: one, size: limit + 1, readIds, signal }
    sides.push({ name, generator, requests: await checkAnswers(asked) })
  }
  return sides
}

async function indexSides(
  context: BenchContext,
  generator: Generator,
  { one, names }: { one: Case; names: readonly string[] },
): Promise<Side[]> {
  const { openSearch, signal } = context
  const { places, limit } = one
  const sides: Side[] = []
  for (const name of names) {
    const index = indexName(context, name)
    const requests = await recordSearches({ urls: openSearch.urls, index, places, limit })
    const asked = { generator, requests, of: one, size: limit + 1, readIds: searchIds, signal }
    sides.push({ name, generator, requests: await checkAnswers(asked) })
  }
  return sides
}
