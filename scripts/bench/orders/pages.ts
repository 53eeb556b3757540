import { issueKey } from '../../../src/auth/keys.ts'
import type { Services } from '../../../src/services.ts'
import type { Generator, LoadRequest } from '../measuring/generator.ts'
import type { Case } from './cases.ts'
import { pageRequest, walkToPlaces } from './walk.ts'

/** The account's listing → the cursors of its places, once they were walked to. */
export type Cursors = Map<string, string[]>

export interface PageAsking {
  generator: Generator
  /** Of each account. */
  keys: ReadonlyMap<string, string>
  signal: AbortSignal
}

/** A key for every account of the cases. */
export async function issueKeys(cases: readonly Pick<Case, 'places'>[], services: Services) {
  const accounts = new Set(cases.flatMap(({ places }) => places.map(({ accountId }) => accountId)))
  const keys = new Map<string, string>()
  for (const accountId of accounts) {
    const grant = { accountId, scopes: ['orders:read'] as const, name: null, expiresAt: null }
    keys.set(accountId, (await issueKey(services, grant, Date.now())).key)
  }
  return keys
}

/** A request for each place. Walks each listing once, whatever the limits of the pages that are then asked for. */
export async function pageRequests(
  { places, sort, limit }: Case,
  { generator, keys, signal }: PageAsking,
  cursors: Cursors = new Map(),
): Promise<LoadRequest[]> {
  const requests: LoadRequest[] = []
  for (const [accountId, listing] of Map.groupBy(places, (place) => place.accountId)) {
    const key = keys.get(accountId) ?? ''
    const walked =
      cursors.get(`${accountId} ${sort}`) ??
      (await walkToPlaces({ generator, key, places: listing, signal }))
    cursors.set(`${accountId} ${sort}`, walked)
    requests.push(...walked.map((cursor) => pageRequest({ key, sort, limit, cursor })))
  }
  return requests
}
