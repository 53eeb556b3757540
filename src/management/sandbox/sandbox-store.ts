import type { SourceDeletion, SourceOrder } from '../../indexing/projection/source-order.ts'

/** An order of a sandbox: the last version that was made of it. */
export interface SandboxOrder {
  /** The live account. */
  accountId: string
  orderId: string
  scenario: string
  /** When it was made in the sandbox, epoch milliseconds; `created_at` of the order is earlier. */
  madeAt: number
  /** A deletion once it is erased. Its owner is the sandbox. */
  source: SourceOrder | SourceDeletion
  /** The last move with an `Idempotency-Key`: its request, and when, epoch milliseconds. */
  lastRequest?: { id: string; at: number }
}

/** The position of an order in a list, newest first. */
export type SandboxPosition = Pick<SandboxOrder, 'madeAt' | 'orderId'>

export interface SandboxList {
  accountId: string
  limit: number
  /** Only orders after this one in the list; from the newest when `null`. */
  after: SandboxPosition | null
}

/** The source orders of all sandboxes, in the durable store. Calls throw Unavailable. */
export interface SandboxStore {
  insert(order: SandboxOrder): Promise<void>
  /**
   * An order, for a change of it. Where an earlier call failed, a node may show a write that no
   * other node has. So a cluster writes the order again, and no failover loses what this returns.
   */
  find(accountId: string, orderId: string): Promise<SandboxOrder | null>
  /** Replaces the version before this one. Returns `false` when it is not the stored one. */
  replace(order: SandboxOrder): Promise<boolean>
  /** The orders of an account that are not erased. Sees every write of this process, as a list. */
  count(accountId: string): Promise<number>
  /** Newest first. Sees every write of this process that returned before it. */
  list(query: SandboxList): Promise<SandboxOrder[]>
}
