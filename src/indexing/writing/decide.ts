import { ORDER_SHAPE } from '../../orders/order.ts'
import { NULL_UPDATED_KEY } from '../../orders/order-store.ts'
import type { Change, Refusal } from '../projection/change.ts'
import type { View } from '../projection/project.ts'
import { showsSame } from './document.ts'
import type {
  BulkWrites,
  Head,
  StoredView,
  UnreadableView,
  ViewKey,
  ViewWrite,
} from './order-index.ts'

/** How a change counts, once decided. */
export type Verdict = 'written' | 'unchanged' | 'older' | Refusal

/**
 * `back-fill` keeps the `changed_at` of an order's first version: history, for an index that nobody
 * pages yet. `live` stamps it like every other change.
 */
export type WriteMode = 'back-fill' | 'live'

/**
 * What a version does that is there already. `reproject` brings its documents of an older shape to the current
 * one. `repair` writes those that are missing, damaged or different, and removes those of other accounts.
 */
export type EqualVersions = 'drop' | 'reproject' | 'repair'

/**
 * A change against the head of its order: `undefined` lets it pass, else it ends here. A version that is there
 * already may pass; what is there of it decides then ({@link verdictByDocuments}).
 */
export function verdictByHead(
  change: Change,
  head: Head | undefined,
  mode: WriteMode,
  nowMs: number,
  equal: EqualVersions = 'drop',
): Verdict | undefined {
  if (head !== undefined) {
    if (head.ownerAccountId !== change.ownerAccountId) {
      return { path: '/owner_account_id', reason: 'the owner of an order never changes' }
    }
    if (isOlder(change, head, equal)) return 'older'
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

/**
 * A change against the documents of its order, once it is decided. It is refused where it would be compared
 * with one that cannot be read. A version that is there already ends here where it has nothing to mend.
 */
export function verdictByDocuments(
  change: Change,
  head: Head | undefined,
  stored: readonly (StoredView | UnreadableView)[],
  decided: BulkWrites,
  equal: EqualVersions,
): Verdict | undefined {
  const isReplaced = (key: ViewKey) =>
    change.views.some(({ accountId }) => accountId === key.accountId)
  const unreadable = stored.find((view) => !isReadable(view) && isReplaced(view))
  if (unreadable !== undefined && equal !== 'repair') return unreadableDocument(unreadable)
  if (change.version !== head?.version) return undefined
  const passes =
    equal === 'repair'
      ? changesSomething(decided, head)
      : stored.some((view) => isReadable(view) && isOfOlderShape(view))
  return passes ? undefined : 'older'
}

/**
 * What a change that passed does to the index. `stored`: the documents of its order. `reproject` writes those
 * of an older shape in the current one, with the dates they have where they show nothing new; `repair` writes
 * those that are damaged too.
 */
export function decide(
  change: Change,
  head: Head | undefined,
  stored: readonly (StoredView | UnreadableView)[],
  mode: WriteMode,
  equal: EqualVersions = 'drop',
): BulkWrites {
  const readable = stored.filter(isReadable)
  // A date may be stored that no head tells of, where all ended between documents and heads.
  const isDated = readable.some(({ updatedKey }) => updatedKey !== NULL_UPDATED_KEY)
  const filled = change.changedAt !== null || isDated || (head?.filled ?? false)
  const storedFor = new Map(readable.map((view) => [view.accountId, view]))
  const accountIds = change.views.map(({ accountId }) => accountId)
  function dateOf({ accountId }: View): number | 'stamp' | null {
    if (!filled) return null
    const isFirst = isHistory(mode, head) && !storedFor.has(accountId)
    return (isFirst ? change.changedAt : null) ?? 'stamp'
  }
  const isToWrite = (view: View, before: StoredView) =>
    differs(view, before, filled) || (equal === 'repair' && !before.isIntact(view))

  return {
    views: change.views.flatMap((view): ViewWrite | [] => {
      const before = storedFor.get(view.accountId)
      const write = { ...view, orderId: change.orderId }
      if (before === undefined || isToWrite(view, before)) {
        return { ...write, updatedAt: dateOf(view) }
      }
      const isBroughtUp = equal === 'reproject' && isOfOlderShape(before)
      return isBroughtUp ? { ...write, ...datesOf(before) } : []
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

function isOlder(change: Change, head: Head, equal: EqualVersions): boolean {
  if (change.version !== head.version) return change.version < head.version
  if (equal === 'drop' || head.deleted !== change.deleted) return true // What was erased stays erased.
  return equal === 'reproject' && change.deleted
}

function isReadable(view: StoredView | UnreadableView): view is StoredView {
  return !('isUnreadable' in view)
}

function unreadableDocument({ accountId, orderId }: ViewKey): Refusal {
  const reason = `the document of account ${accountId} in the index is no order, as after a change by hand, so ${orderId} cannot be compared with it: "index load --repair" replaces it`
  return { path: '', reason }
}

/** Whether the documents of a version that is there already, or the head, become others. */
function changesSomething({ views, removals, heads: [next] }: BulkWrites, head: Head): boolean {
  if (views.length + removals.length > 0 || next === undefined) return true
  const accountsOf = ({ accountIds }: Head) => [...accountIds].sort().join(' ')
  return next.filled !== head.filled || accountsOf(next) !== accountsOf(head)
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
