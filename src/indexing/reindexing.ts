/** What a reindex tells while it goes on. */
export interface ReindexEvents {
  /** Documents looked at, of how many, in the new index; a look begins anew until nothing is missing. */
  onProgress?(scanned: number, total: number): void
  /** Told what is waited for, in words for an operator. */
  onDelay?(reason: string): void
  /** Ends the work; what is there already stays, and the next attempt goes on with it. */
  signal?: AbortSignal
}

export interface ReindexSummary {
  /** The index that is read now, and the one that was. */
  live: string
  previous: string
  /** Documents of the new index. */
  documents: number
  copied: number
  /** Documents that were there no more in the old one. */
  removed: number
}

/** Which index is read after all, and which are gone. */
export interface ReindexOutcome {
  live: string
  removed: readonly string[]
}

/**
 * Rebuilds the index without downtime: dual writes to a new version, a backfill from the old one, a
 * comparison, then an alias swap. The old version keeps receiving writes until `finish` or `rollBack`.
 */
export interface Reindexing {
  /** @throws Error when an earlier reindex was neither finished nor rolled back */
  build(events?: ReindexEvents): Promise<ReindexSummary>
  /**
   * Ends the dual writes and removes the old index.
   * @throws Error during a rebuild, or when a document of the new index is damaged
   */
  finish(events?: ReindexEvents): Promise<ReindexOutcome>
  /** Reads the old index again, and removes the new one. @throws Error when there is no way back */
  rollBack(events?: ReindexEvents): Promise<ReindexOutcome>
}
