import { ORDER_SHAPE } from '../../orders/order.ts'
import { NULL_UPDATED_KEY } from '../../orders/order-store.ts'
import type { Change, Refusal } from '../projection/change.ts'
import type { View } from '../projection/project.ts'
import { showsSame } from './document.ts'
import type { BulkWrites, Head, StoredView, ViewKey, ViewWrite } from './order-index.ts'

/** How a change counts, once decided. */
export type Verdict = 'written' | 'unchanged' | 'older' | Refusal

/**
 * `back-fill` keeps the `changed_at` of an order's first version: history, for an index that nobody
 * pages yet. `live` stamps it like every other change.
 */
export type WriteMode = 'back-fill' | 'live'

/**
 * A change against the head of its order: `undefined` lets it pass, else it ends here. `reproject` lets a
 * version pass that is there already; what is there of it decides then ({@link verdictByShape}).
 */
export function verdictByHead(
  change: Change,
  head: Head | undefined,
  mode: WriteMode,
  nowMs: number,
  reproject = false,
): Verdict | undefined {
  if (head !== undefined) {
    if (head.ownerAccountId !== change.ownerAccountId) {
      return { path: '/owner_account_id', reason: 'the owner of an order never changes' }
    }
    if (isOlder(change, head, reproject)) return 'older'
    const { createdKey } = change
    if (createdKey !== null && head.createdKey !== null && createdKey !== head.createdKey) {
      return { path: '/created_at', reason: 'the creation of an order never changes' }
    }
  }
  if (isHistory(mode, head) && change.changedAt !== null && change.changedAt > nowMs) {
    return { path: '/changed_at', reason: 'expected an instant that is not in the future' }
  }
  return undefined
}

/** A version that is there already against its documents: it passes where one has an older shape. */
export function verdictByShape(
  change: Change,
  head: Head | undefined,
  stored: readonly StoredView[],
): Verdict | undefined {
  return change.version === head?.version && !stored.some(isOfOlderShape) ? 'older' : undefined
}

/**
 * What a change that passed does to the index. `stored`: the documents of its order; with `reproject` those
 * of an older shape are written in the current one, with the dates they have where they show nothing new.
 */
export function decide(
  change: Change,
  head: Head | undefined,
  stored: readonly StoredView[],
  mode: WriteMode,
  reproject = false,
): BulkWrites {
  // A date may be stored that no head tells of, where all ended between documents and heads.
  const isDated = stored.some(({ updatedKey }) => updatedKey !== NULL_UPDATED_KEY)
  const filled = change.changedAt !== null || isDated || (head?.filled ?? false)
  const storedFor = new Map(stored.map((view) => [view.accountId, view]))
  const accountIds = change.views.map(({ accountId }) => accountId)
  function dateOf({ accountId }: View): number | 'stamp' | null {
    if (!filled) return null
    const isFirst = isHistory(mode, head) && !storedFor.has(accountId)
    return (isFirst ? change.changedAt : null) ?? 'stamp'
  }

  return {
    views: change.views.flatMap((view): ViewWrite | [] => {
      const before = storedFor.get(view.accountId)
      const write = { ...view, orderId: change.orderId }
      if (before === undefined || differs(view, before, filled)) {
        return { ...write, updatedAt: dateOf(view) }
      }
      return reproject && isOfOlderShape(before) ? { ...write, ...datesOf(before) } : []
    }),
    removals: stored
      .filter(({ accountId }) => !accountIds.includes(accountId))
      .map(({ accountId, orderId }) => ({ accountId, orderId })),
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

/** The documents that there may be of an order, by its head and by those that were found. */
export function viewKeys(
  orderId: string,
  head: Head | undefined,
  strays: readonly ViewKey[],
): ViewKey[] {
  const found = strays.map(({ accountId }) => accountId)
  const accountIds = new Set([...(head?.accountIds ?? []), ...found])
  return [...accountIds].map((accountId) => ({ accountId, orderId }))
}

/** The first version of an order keeps its date, when it is history that is written. */
function isHistory(mode: WriteMode, head: Head | undefined): boolean {
  return mode === 'back-fill' && head === undefined
}

function isOlder(change: Change, head: Head, reproject: boolean): boolean {
  if (change.version !== head.version) return change.version < head.version
  return !reproject || head.deleted || change.deleted
}

const isOfOlderShape = ({ shape }: StoredView) => shape < ORDER_SHAPE

/** The dates of a document that stays what it is to every reader. */
function datesOf({
  updatedKey,
  writtenKey,
}: StoredView): Pick<ViewWrite, 'updatedAt' | 'writtenKey'> {
  const updatedAt = updatedKey === NULL_UPDATED_KEY ? null : updatedKey
  return { updatedAt, ...(writtenKey !== undefined && { writtenKey }) }
}

/** An order that gets its first date is written even when nothing else changed. */
function differs({ order }: View, stored: StoredView, filled: boolean): boolean {
  if (filled && stored.updatedKey === NULL_UPDATED_KEY) return true
  return !showsSame(stored, order)
}
