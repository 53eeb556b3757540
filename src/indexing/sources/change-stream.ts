import type { ValidationError } from '../projection/change.ts'

/** One queued change. */
export interface StreamEntry {
  id: string
  /** The appended bytes of the source order; `undefined` unless the entry has exactly one. */
  order: Buffer | undefined
  /** Alternating field names and values, kept when the entry becomes a dead letter. */
  fields: readonly Buffer[]
  /** How long it had waited when it was read, in milliseconds by the clock of the stream. */
  ageMs: number
}

/** Entries that are no longer in the stream, and that no consumer acknowledged. */
export interface LostEntries {
  /** The id of the entry, or the range of several: of the first to the last, or up to one. */
  id: string
  count: number
}

/** The number of lost entries. */
export const totalCount = (lost: readonly LostEntries[]): number =>
  lost.reduce((sum, { count }) => sum + count, 0)

export interface StreamBatch {
  /** The oldest first, as far as the stream has an order. */
  entries: readonly StreamEntry[]
  lost: readonly LostEntries[]
}

/** The size of one read: large enough to amortise a round trip, in bounded memory. */
export const READ_LIMITS = { entries: 500, bytes: 4 * 1024 * 1024 } as const

/** By the position of the order. */
export type RejectedOrders = ReadonlyMap<number, ValidationError>

export type DeadLetter = Pick<StreamEntry, 'id' | 'order' | 'fields'> & { error: ValidationError }

/**
 * The queue of changes, with at-least-once delivery. One consumer reads at a time, so it may claim
 * every unacknowledged entry. Every call throws Unavailable when the stream does not respond, and
 * may be retried.
 */
export interface ChangeStream {
  /** Claims the unacknowledged entries of other consumers: `read` returns them before new ones. */
  claimPending(): Promise<readonly LostEntries[]>
  /** Returns unacknowledged entries, then new ones; blocks briefly when there are none. */
  read(): Promise<StreamBatch>
  /** Acknowledged entries are not delivered again. Lost ones are acknowledged by their id too. */
  acknowledge(ids: readonly string[]): Promise<void>
  /** Moves rejected entries to the dead letters, with the reason, and acknowledges them. */
  deadLetter(entries: readonly DeadLetter[]): Promise<void>
  /** Removes the entries that every consumer group has acknowledged, unless the stream does. */
  trim(): Promise<void>
  /** The number of unacknowledged entries, delivered or not. */
  backlog(): Promise<number>
  /**
   * Appends source orders, one entry each. Returns the positions of those that the stream rejects,
   * with the reason; the others are appended, some of them repeatedly. After an error, some may be
   * appended.
   */
  append(orders: readonly Buffer[]): Promise<RejectedOrders>
  /** Whether the stream responds, within a short deadline. */
  ping(): Promise<void>
  close(): void
}
