import { createMutex } from '../../lib/async/mutex.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Endpoint } from './endpoint.ts'
import type { EndpointStore } from './endpoint-store.ts'

/** All endpoints in memory; each refresh reads only what changed. */
export interface EndpointDirectory {
  /**
   * Reads changes, unless the last read began less than `maxAgeMs` ago. Returns the endpoints that
   * changed, deleted ones included. @throws Unavailable; the earlier content stays
   */
  refresh(maxAgeMs?: number): Promise<readonly Endpoint[]>
  byId(id: string): Endpoint | undefined
  /** The endpoints of an account. */
  ofAccount(accountId: string): readonly Endpoint[]
  all(): Iterable<Endpoint>
  /** The accounts that have an endpoint. */
  accounts(): Iterable<string>
}

/** Returns the accounts that have an endpoint, for the writer. `monotonic`: milliseconds. */
export function createSubscriberLookup(
  store: Pick<EndpointStore, 'changes'>,
  monotonic: Clock,
): () => Promise<ReadonlySet<string>> {
  const directory = createEndpointDirectory(store, monotonic)
  const mutex = createMutex()
  // A decision keeps the set that it read, while the directory changes.
  let accounts: ReadonlySet<string> = new Set()
  return () =>
    mutex(async () => {
      const changed = await directory.refresh(ENDPOINT_MAX_AGE_MS)
      if (changed.length > 0) accounts = new Set(directory.accounts())
      return accounts
    })
}

/** Changes of an endpoint take effect within this time, in every process. */
export const ENDPOINT_MAX_AGE_MS = 5_000

/** Creates an empty directory. `monotonic`: milliseconds. */
export function createEndpointDirectory(
  store: Pick<EndpointStore, 'changes'>,
  monotonic: Clock,
): EndpointDirectory {
  const endpoints = new Map<string, Endpoint>()
  const byAccount = new Map<string, Map<string, Endpoint>>()
  const mutex = createMutex()
  let token: string | null = null
  let readAt = -Infinity

  function put(endpoint: Endpoint): void {
    const { id, accountId, deletedAt } = endpoint
    const siblings = byAccount.get(accountId) ?? new Map<string, Endpoint>()
    if (deletedAt === null) {
      endpoints.set(id, endpoint)
      byAccount.set(accountId, siblings.set(id, endpoint))
      return
    }
    endpoints.delete(id)
    siblings.delete(id)
    if (siblings.size === 0) byAccount.delete(accountId)
  }

  return {
    async refresh(maxAgeMs = 0) {
      if (monotonic() - readAt < maxAgeMs) return []
      return mutex(async () => {
        const startedAt = monotonic()
        if (startedAt - readAt < maxAgeMs) return []
        const changes = await store.changes(token)
        token = changes.token
        readAt = startedAt
        for (const endpoint of changes.endpoints) put(endpoint)
        return changes.endpoints
      })
    },
    byId: (id) => endpoints.get(id),
    ofAccount: (accountId) => [...(byAccount.get(accountId)?.values() ?? [])],
    all: () => endpoints.values(),
    accounts: () => byAccount.keys(),
  }
}
