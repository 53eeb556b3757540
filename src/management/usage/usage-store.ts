/** The requests of one key on one day, as one process counted them. */
export interface UsageCounters {
  /** UTC, `YYYY-MM-DD`. */
  day: string
  keyId: string
  /** The account that the key reads; a sandbox counts apart. */
  accountId: string
  /** Identifies a run of a process and a start of the day, so that one writer has each count. */
  processId: string
  /** Authenticated responses. */
  requests: number
  /** Status → responses. */
  byStatus: Readonly<Record<string, number>>
  /** Responses 429, which `requests` includes. */
  rateLimited: number
  /** Epoch milliseconds. */
  lastUsedAt: number
}

export interface UsageQuery {
  accountId: string
  /** The first and the last day, inclusive. */
  fromDay: string
  toDay: string
}

/** Counters in the durable store. Calls throw Unavailable. */
export interface UsageStore {
  /** Replaces the counters of the same day, key and process: a repetition changes nothing. */
  save(counters: readonly UsageCounters[]): Promise<void>
  /** The sums over all processes, by day, then by key. `processId` is empty. */
  list(query: UsageQuery): Promise<UsageCounters[]>
  /** Key id → when the key was last used, epoch milliseconds, of each key that was. */
  lastUsedAt(accountId: string): Promise<ReadonlyMap<string, number>>
  /**
   * Removes the counters of the oldest day, if it is before this one. A process with a wrong clock
   * can thus remove a day with each call, and never all usage at once.
   */
  purge(beforeDay: string): Promise<void>
}
