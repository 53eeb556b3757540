/** The progress of the consumers of the change stream. */
export interface StreamBacklog {
  /** Unacknowledged entries: those not delivered yet and those being processed. */
  backlog: number
  /** How long the oldest has waited, in milliseconds by the stream's clock; `null` without any. */
  oldestAgeMs: number | null
  /** Rejected entries. */
  deadLetters: number
}

/** An entry of the stream: its id, and the bytes of its order; `null` when it has none. */
export interface AcknowledgedEntry {
  id: string
  order: Uint8Array | null
}

/** Reads the state of the change stream without being a consumer. */
export interface StreamInspection {
  backlog(): Promise<StreamBacklog>
  /** The acknowledged entries that are still in the stream, in pages. */
  acknowledged(): AsyncIterable<AcknowledgedEntry[]>
  close(): void
}
