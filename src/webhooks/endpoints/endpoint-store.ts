import type { Endpoint } from './endpoint.ts'

/** The number of endpoints in each state; the states are disjoint. */
export interface EndpointCounts {
  enabled: number
  /** Enabled, with `failingSince` set. */
  failing: number
  disabled: number
}

/** Endpoints that changed, and the token for the next call. */
export interface EndpointChanges {
  /** Including deleted ones. Of two versions of an endpoint, the last one is the newer. */
  endpoints: readonly Endpoint[]
  token: string
}

/** The endpoints of all accounts. Calls throw Unavailable. */
export interface EndpointStore {
  insert(endpoint: Endpoint): Promise<void>
  /** Also a deleted endpoint, until its marker is purged; `null` when there is none. */
  find(id: string): Promise<Endpoint | null>
  /** An endpoint that is not deleted; `null` when there is none. */
  byId(id: string): Promise<Endpoint | null>
  /** Those of an account that are not deleted, oldest first. */
  list(accountId: string): Promise<Endpoint[]>
  /**
   * Replaces an endpoint with what `change` returns, by compare-and-set: `change` runs again after
   * a conflict. Returns the new endpoint; `null` when it is missing or deleted, or `change` returns
   * `null`. A cluster writes a deletion that it finds again: the call that deleted the endpoint may
   * have failed, and one node alone may show it.
   */
  update(id: string, change: (endpoint: Endpoint) => Endpoint | null): Promise<Endpoint | null>
  /**
   * The endpoints changed since the call that returned `token`; all for `null`. Never misses one.
   */
  changes(token: string | null): Promise<EndpointChanges>
  counts(): Promise<EndpointCounts>
  /** Removes the markers of endpoints deleted before this instant. */
  purgeDeleted(beforeMs: number): Promise<void>
}
