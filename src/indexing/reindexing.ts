/** How a reindex reports its progress, and how it is stopped. */
export interface ReindexEvents {
  /**
   * Compared and total documents of the new index; comparisons repeat until nothing is missing. Of
   * `finish`: verified and total documents of the live index.
   */
  onProgress?(scanned: number, total: number): void
  /** Receives the reason of a delay, in words for an operator. */
  onDelay?(reason: string): void
  /** Stops the reindex; the next attempt continues from its progress. */
  signal?: AbortSignal
}

export interface ReindexOptions extends ReindexEvents {
  /** Primary shards of the new index and of the version records; as many as now when absent. */
  shards?: number
}

export interface ReindexSummary {
  /** The index that is read now, and the previous one. */
  live: string
  previous: string
  /** Primary shards of the new index. */
  shards: number
  /** Documents of the new index. */
  documents: number
  copied: number
  /** Removed from the new index, since the old one no longer has them. */
  removed: number
}

/** The index that is read afterwards, and the removed ones. */
export interface ReindexOutcome {
  live: string
  removed: readonly string[]
}

/**
 * Rebuilds the index without downtime: dual writes to a new version, a backfill from the old one, a
 * comparison, then an alias swap. The old version receives writes until `finish` or `rollBack`.
 */
export interface Reindexing {
  /** @throws Error when an earlier reindex was neither finished nor rolled back */
  build(options?: ReindexOptions): Promise<ReindexSummary>
  /**
   * Ends the dual writes and removes the old index, also one that an interrupted attempt left.
   * @throws Error during a rebuild, or when a document of the new index is damaged
   */
  finish(events?: ReindexEvents): Promise<ReindexOutcome>
  /** Switches reads to the old index and removes the new one. @throws Error without an old index */
  rollBack(events?: ReindexEvents): Promise<ReindexOutcome>
}
