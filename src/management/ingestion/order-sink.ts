import type { ParsedLine } from '../../indexing/sources/ndjson.ts'
import type { WriteResult } from '../../indexing/writer/decide.ts'

/** `accepted`: a stream holds the line, and only its writer will see what the index decides. */
export type SinkResult = WriteResult | 'accepted'

/** Where pushed source orders go. */
export interface OrderSink {
  /** Whether the orders are written after the response. */
  isDeferred: boolean
  /**
   * Stores the lines and returns the result of each, in their order. After an error any of them may
   * be stored, and sending all of them again is harmless.
   * @throws IngestionUnavailable
   */
  store(lines: readonly ParsedLine[]): Promise<SinkResult[]>
  /** Waits for the calls in progress. */
  close(): Promise<void>
}
