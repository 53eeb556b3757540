/** How far the consumers of the stream of changes came. */
export interface StreamBacklog {
  /** Entries that nobody acknowledged: those not read yet, and those that a consumer has in its hands. */
  backlog: number
  /** How long the oldest of them has waited, in milliseconds by the stream's own clock; `null` without any. */
  oldestAgeMs: number | null
  /** Entries that were refused and put aside. */
  refused: number
}

/** An entry of the stream: its id, and the bytes of its order; `null` when it has none. */
export interface AcknowledgedEntry {
  id: string
  order: Uint8Array | null
}

/** Looks into the stream of changes without reading from it as a consumer. */
export interface StreamInspection {
  backlog(): Promise<StreamBacklog>
  /** The entries that are still there though their consumer is done with them, in pages. */
  acknowledged(): AsyncIterable<AcknowledgedEntry[]>
  close(): void
}
