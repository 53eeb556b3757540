import { NULL_UPDATED_KEY } from '../orders/order-store.ts'
import type { Change, Refusal } from './change.ts'
import { showsSame } from './document.ts'
import type { BulkWrites, Head, StoredView, ViewKey } from './order-index.ts'
import type { View } from './project.ts'

/** How a change counts, once decided. */
export type Verdict = 'written' | 'unchanged' | 'older' | Refusal

/**
 * `back-fill` keeps the `changed_at` of an order's first version: history, for an index that nobody
 * pages yet. `live` stamps it like every other change.
 */
export type WriteMode = 'back-fill' | 'live'

/** A change against the head of its order: `undefined` lets it pass, else it ends here. */
export function verdictByHead(
  change: Change,
  head: Head | undefined,
  mode: WriteMode,
  nowMs: number,
): Verdict | undefined {
  if (head !== undefined) {
    if (head.ownerAccountId !== change.ownerAccountId) {
      return { path: '/owner_account_id', reason: 'the owner of an order never changes' }
    }
    if (change.version <= head.version) return 'older'
    const { createdKey } = change
    if (createdKey !== null && head.createdKey !== null && createdKey !== head.createdKey) {
      return { path: '/created_at', reason: 'the creation of an order never changes' }
    }
    return undefined
  }
  if (mode === 'back-fill' && change.changedAt !== null && change.changedAt > nowMs) {
    return { path: '/changed_at', reason: 'expected an instant that is not in the future' }
  }
  return undefined
}

/** What a change that passed does to the index. `stored`: the documents of its order. */
export function decide(
  change: Change,
  head: Head | undefined,
  stored: readonly StoredView[],
  mode: WriteMode,
): BulkWrites {
  const filled = change.changedAt !== null || (head?.filled ?? false)
  const isHistory = mode === 'back-fill' && head === undefined
  const dated = isHistory ? change.changedAt : 'stamp'
  const updatedAt = filled ? dated : null

  const storedFor = new Map(stored.map((view) => [view.accountId, view]))
  const accountIds = change.views.map(({ accountId }) => accountId)
  return {
    views: change.views
      .filter((view) => differs(view, storedFor.get(view.accountId), filled))
      .map((view) => ({ ...view, orderId: change.orderId, updatedAt })),
    removals: viewKeys(head).filter(({ accountId }) => !accountIds.includes(accountId)),
    heads: [
      {
        orderId: change.orderId,
        version: change.version,
        ownerAccountId: change.ownerAccountId,
        accountIds,
        createdKey: change.createdKey ?? head?.createdKey ?? null,
        filled,
        deleted: change.deleted,
      },
    ],
  }
}

/** The documents that an order has, as its head tells. */
export function viewKeys(head: Head | undefined): ViewKey[] {
  if (head === undefined) return []
  return head.accountIds.map((accountId) => ({ accountId, orderId: head.orderId }))
}

/** An order that gets its first date is written even when nothing else changed. */
function differs({ order }: View, stored: StoredView | undefined, filled: boolean): boolean {
  if (stored === undefined) return true
  if (filled && stored.updatedKey === NULL_UPDATED_KEY) return true
  return !showsSame(stored, order)
}
