import type { OrderState } from '../../webhooks/events/order-state.ts'

/**
 * The last written version of an order: one small record, never removed. It alone decides whether a
 * version is older, whether the owner or creation date changed, and which accounts lose the order.
 */
export interface OrderVersionRecord {
  orderId: string
  version: number
  ownerAccountId: string
  /** The accounts that have a document. */
  accountIds: readonly string[]
  /** Epoch milliseconds; `null` when the only version is a deletion. */
  createdKey: number | null
  /** Whether any version had a `changed_at`; `updated_at` is not null from then on. */
  hasUpdatedAt: boolean
  deleted: boolean
  /**
   * Set by a store that confirms the documents before this record: no confirmed document has a
   * later write timestamp. Absent in records of earlier releases.
   */
  writtenKey?: number
  /** Absent in records of earlier releases. */
  announced?: Announced
}

/** What events announced of an order. The next event starts where the last one ended. */
export interface Announced {
  /** The sequence of the last event; 0 before the first. It never starts again. */
  sequence: number
  /**
   * When the last event was recorded, epoch milliseconds: the next one is not earlier. Absent
   * before the first event, and in records of earlier releases.
   */
  recordedAt?: number
  /** The views do not show it. */
  lastPaymentId: string | null
  /** Absent while no account of the order has a webhook endpoint; the stored views then have it. */
  tracked?: TrackedState
}

export interface TrackedState {
  /** `null`: the order is not visible. */
  state: OrderState | null
  /** Of the view of each account with an endpoint. */
  digests: Readonly<Record<string, string>>
}
