import type { ValidationError } from '../projection/change.ts'

/** One change as it waits to be written. */
export interface StreamEntry {
  id: string
  /** The source order, as it was put in; `undefined` where the entry has not just one of it. */
  order: Buffer | undefined
  /** Its fields and their values, by turns: what is kept of an entry that is refused. */
  fields: readonly Buffer[]
  /** How long it had waited when it was read, in milliseconds by the stream's own clock. */
  ageMs: number
}

export interface StreamBatch {
  /** The oldest first. */
  entries: readonly StreamEntry[]
  /** Ids of entries that were delivered once and are gone from the stream: nobody can read them any more. */
  lost: readonly string[]
}

export type DeadLetter = Pick<StreamEntry, 'id' | 'order' | 'fields'> & { error: ValidationError }

/**
 * The queue of changes, with at-least-once delivery. One consumer reads at a time, so it may claim every
 * unacknowledged entry. Every call throws Unavailable when the stream does not respond, and may be retried.
 */
export interface ChangeStream {
  /**
   * Claims the unacknowledged entries of other consumers: `read` returns them before new ones. Returns the
   * ids of those no longer in the stream.
   */
  claimPending(): Promise<readonly string[]>
  /** What is not acknowledged yet, then what is new; waits a moment when there is nothing. */
  read(): Promise<StreamBatch>
  /** Done with: not delivered again. */
  acknowledge(ids: readonly string[]): Promise<void>
  /** Puts refused entries aside, with why, and acknowledges them. */
  deadLetter(entries: readonly DeadLetter[]): Promise<void>
  /** Lets go of what every reader, also of other groups, is done with. */
  trim(): Promise<void>
  /** How many entries are not acknowledged, delivered or not. */
  backlog(): Promise<number>
  /** Puts source orders in, one entry each. When it throws, some may be in. */
  append(orders: readonly Buffer[]): Promise<void>
  /** Whether it answers, within a moment. */
  ping(): Promise<void>
  close(): void
}
