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
 * A new version of the index beside the one that is read: fed by the writers like the old one, filled with
 * what the old one has, compared with it, then read in its place without a pause. The old one goes on being
 * fed, so that there is a way back, until `finish` or `rollBack`.
 */
export interface Reindexing {
  /** @throws Error when an earlier reindex was neither finished nor rolled back */
  build(events?: ReindexEvents): Promise<ReindexSummary>
  /**
   * Ends the feeding of the old index and removes it.
   * @throws Error while the new one is being built, or where one of its documents is damaged
   */
  finish(events?: ReindexEvents): Promise<ReindexOutcome>
  /** Reads the old index again, and removes the new one. @throws Error when there is no way back */
  rollBack(events?: ReindexEvents): Promise<ReindexOutcome>
}
