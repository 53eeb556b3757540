import { startServer } from '../../../test/harness/processes/service.ts'
import { writeCursor } from '../baselines/straightforward-app.ts'
import { type BenchContext, baselineFile, type Part } from '../context.ts'
import { createLoadClient } from '../measuring/load.ts'
import { race } from '../measuring/race.ts'
import { accountsOf, positionBefore } from '../orders/cases.ts'
import * as pages from '../orders/pages.ts'
import { fillEmbedded, fillServiceIndex, openEmbedded } from '../orders/stores.ts'
import type { Section } from '../report.ts'

const perRaw = { of: 'api', per: 'raw', figure: 'perSecond' } as const
const RATIOS = [
  { ...perRaw, name: 'api÷raw' },
  { ...perRaw, name: 'api÷straightforward', per: 'straightforward' },
  { ...perRaw, name: 'embedded÷raw', of: 'embedded' },
  { ...perRaw, name: 'p50 api÷raw', figure: 'p50Ms', isCost: true },
] as const
const LEGEND = `raw: the search of the service, sent directly to OpenSearch; api: GET /v1/orders
straightforward: the usual implementation; embedded: the service alone, one process without OpenSearch
µs: CPU time of a request; MB: resident memory of the process at the end of the case`

export const apiPart: Part = {
  name: 'api',
  about: 'the service against the raw search, a baseline, and itself without OpenSearch',
  async measure(context, scope) {
    const { cases, cluster, openSearch, options, settings } = context
    const { index, services } = await fillServiceIndex(context, scope)
    const access = await pages.accessTo(accountsOf(cases), services)
    const client = scope.use(createLoadClient(openSearch, options.connections))
    // Compared contenders run directly after each other.
    const scenarios = await pages.pageScenarios(context, cases, [
      await openStraightforward(context, access, scope),
      await pages.openService(context, { name: 'api', settings, access }, scope),
      pages.rawSearches(context, { index, client }),
      await openEmbeddedService(context, scope),
    ])
    const sections: Section[] = []
    for (const state of options.states) {
      if (state === 'merged') await cluster.merge(index)
      const results = await race(scenarios, context)
      const { segments, bytes } = await cluster.figures(index)
      const hits = await cluster.queryCacheHits(index)
      sections.push({
        title: `The service and its search; the index ${state}, ${segments} segment(s), ${Math.round(bytes / 1e6)} MB`,
        results,
        base: 'raw',
        // The history has the index as filled only.
        ratios: state === 'filled' ? RATIOS : [],
        notes: [LEGEND, `hits in the query cache, which has none in production: ${hits}`],
      })
    }
    return { sections }
  },
}

async function openEmbeddedService(context: BenchContext, scope: AsyncDisposableStack) {
  const { settings, services } = await openEmbedded(context.settings, scope)
  await fillEmbedded(services, context)
  const access = await pages.accessTo(accountsOf(context.cases), services)
  return await pages.openService(context, { name: 'embedded', settings, access }, scope)
}

async function openStraightforward(
  context: BenchContext,
  access: pages.AccessMap,
  scope: AsyncDisposableStack,
) {
  const { options, settings } = context
  const program = baselineFile('straightforward.ts')
  const server = scope.use(await startServer({ program, args: [], settings }))
  const client = scope.use(createLoadClient({ origins: [server.origin] }, options.connections))
  return pages.servicePages(context, {
    name: 'straightforward',
    client,
    server,
    access,
    cursorAt(place) {
      const after = positionBefore(place)
      return after && writeCursor([after.key, after.id])
    },
  })
}
