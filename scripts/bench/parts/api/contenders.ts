import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openScratch } from '../../../../test/harness/processes/scratch.ts'
import { startServer } from '../../../../test/harness/processes/service.ts'
import { writeCursor } from '../../baselines/straightforward-app.ts'
import { type BenchContext, baselineFile } from '../../context.ts'
import { createLoadClient, type LoadRequest } from '../../measuring/load.ts'
import { accountsOf, type Case, positionBefore } from '../../orders/cases.ts'
import * as pages from '../../orders/pages.ts'
import { fillEmbedded, openEmbedded } from '../../orders/stores.ts'

/** The service on the embedded store, with the same orders. */
export async function openEmbeddedService(context: BenchContext, scope: AsyncDisposableStack) {
  const { settings, services } = await openEmbedded(context.settings, scope)
  await fillEmbedded(services, context)
  const access = await pages.accessTo(accountsOf(context.cases), services)
  return await pages.openService(context, { name: 'embedded', settings, access }, scope)
}

/** The usual implementation of the listing, on the stores of the service. */
export async function openStraightforward(
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

export const PROXY = 'bare proxy'

/** A process that only passes on the searches of `raw`, after one GET in Redis. */
export async function openBareProxy(
  { cases, options, settings }: BenchContext,
  raw: pages.PageSource,
  scope: AsyncDisposableStack,
): Promise<pages.PageSource> {
  const searches: LoadRequest[] = []
  const firstOf = new Map<Case, number>()
  for (const of of cases) {
    firstOf.set(of, searches.length)
    searches.push(...(await raw.requestsOf(of)))
  }
  const scratch = await openScratch('bench-searches')
  scope.defer(scratch.close)
  const file = join(scratch.path, 'searches.json')
  const stored = searches.map((search) => ({ ...search, body: `${search.body}` }))
  // The searches carry the credentials of OpenSearch.
  await writeFile(file, JSON.stringify(stored), { mode: 0o600 })
  const program = baselineFile('bare-proxy.ts')
  const server = scope.use(await startServer({ program, args: [file], settings }))
  const client = scope.use(createLoadClient({ origins: [server.origin] }, options.connections))
  const requestsOf = (of: Case) => {
    const first = firstOf.get(of) ?? Number.NaN
    return of.places.map((_, at): LoadRequest => {
      return { method: 'GET', path: `/${first + at}`, headers: {} }
    })
  }
  return { name: PROXY, client, server, requestsOf, readIds: raw.readIds }
}

/**
 * The requests of the bare proxy, changed so that each response has the length of the service's
 * page: a search returns one order more, and half as many bytes again.
 */
export function shortenedTo(pages: readonly LoadRequest[], requests: readonly LoadRequest[]) {
  return requests.map((request, at): LoadRequest => {
    const { expectedBytes = 0 } = pages[at] ?? {}
    return { ...request, path: `${request.path}/${expectedBytes}`, expectedBytes }
  })
}
