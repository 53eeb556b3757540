import { ORDER_SCHEMA_VERSION } from '../../orders/order.ts'
import { NULL_UPDATED_KEY } from '../../orders/order-store.ts'
import type { Change, ValidationError } from '../projection/change.ts'
import type { View } from '../projection/order-views.ts'
import { hasSameContent } from './order-document.ts'
import type {
  BulkWrites,
  OrderVersionRecord,
  StoredView,
  UnreadableView,
  ViewKey,
  ViewWrite,
} from './order-index.ts'

/** How a change counts, once decided. */
export type WriteResult = 'written' | 'unchanged' | 'older' | ValidationError

/**
 * `back-fill` keeps the `changed_at` of an order's first version: history, for an index that nobody
 * pages yet. `live` stamps it like every other change.
 */
export type WriteMode = 'back-fill' | 'live'

/**
 * What a version does that is there already. `reproject` brings its documents of an older shape to the current
 * one. `repair` writes those that are missing, damaged or different, and removes those of other accounts.
 */
export type EqualVersionPolicy = 'drop' | 'reproject' | 'repair'

/**
 * A change against the head of its order: `undefined` lets it pass, else it ends here. A version that is there
 * already may pass; what is there of it decides then ({@link checkDocuments}).
 */
export function checkVersion(
  change: Change,
  record: OrderVersionRecord | undefined,
  mode: WriteMode,
  nowMs: number,
  policy: EqualVersionPolicy = 'drop',
): WriteResult | undefined {
  if (record !== undefined) {
    if (record.ownerAccountId !== change.ownerAccountId) {
      return { path: '/owner_account_id', reason: 'the owner of an order never changes' }
    }
    if (isOlder(change, record, policy)) return 'older'
    const { createdKey } = change
    if (createdKey !== null && record.createdKey !== null && createdKey !== record.createdKey) {
      return { path: '/created_at', reason: 'the creation of an order never changes' }
    }
  }
  if (isFirstBackFill(mode, record) && change.changedAt !== null && change.changedAt > nowMs) {
    return { path: '/changed_at', reason: 'expected an instant that is not in the future' }
  }
  return undefined
}

/**
 * A change against the documents of its order, once it is decided. It is refused where it would be compared
 * with one that cannot be read. A version that is there already ends here where it has nothing to mend.
 */
export function checkDocuments(
  change: Change,
  record: OrderVersionRecord | undefined,
  stored: readonly (StoredView | UnreadableView)[],
  decided: BulkWrites,
  policy: EqualVersionPolicy,
): WriteResult | undefined {
  const isReplaced = (key: ViewKey) =>
    change.views.some(({ accountId }) => accountId === key.accountId)
  const unreadable = stored.find((view) => !isReadable(view) && isReplaced(view))
  if (unreadable !== undefined && policy !== 'repair') return unreadableDocumentError(unreadable)
  if (change.version !== record?.version) return undefined
  const hasEffect =
    policy === 'repair'
      ? changesSomething(decided, record)
      : stored.some((view) => isReadable(view) && hasOlderSchema(view))
  return hasEffect ? undefined : 'older'
}

/**
 * What a change that passed does to the index. `stored`: the documents of its order. `reproject` writes those
 * of an older shape in the current one, with the dates they have where they show nothing new; `repair` writes
 * those that are damaged too.
 */
export function decide(
  change: Change,
  record: OrderVersionRecord | undefined,
  stored: readonly (StoredView | UnreadableView)[],
  mode: WriteMode,
  policy: EqualVersionPolicy = 'drop',
): BulkWrites {
  const readable = stored.filter(isReadable)
  // A date may be stored that no head tells of, where all ended between documents and heads.
  const isDated = readable.some(({ updatedKey }) => updatedKey !== NULL_UPDATED_KEY)
  const hasUpdatedAt = change.changedAt !== null || isDated || (record?.hasUpdatedAt ?? false)
  const storedFor = new Map(readable.map((view) => [view.accountId, view]))
  const accountIds = change.views.map(({ accountId }) => accountId)
  function updatedAtOf({ accountId }: View): number | 'stamp' | null {
    if (!hasUpdatedAt) return null
    const isFirst = isFirstBackFill(mode, record) && !storedFor.has(accountId)
    return (isFirst ? change.changedAt : null) ?? 'stamp'
  }
  const mustWrite = (view: View, before: StoredView) =>
    hasNewContent(view, before, hasUpdatedAt) || (policy === 'repair' && !before.isIntact(view))

  return {
    views: change.views.flatMap((view): ViewWrite | [] => {
      const before = storedFor.get(view.accountId)
      const write = { ...view, orderId: change.orderId }
      if (before === undefined || mustWrite(view, before)) {
        return { ...write, updatedAt: updatedAtOf(view) }
      }
      const isReprojected = policy === 'reproject' && hasOlderSchema(before)
      return isReprojected ? { ...write, ...keptDates(before) } : []
    }),
    removals: stored
      .filter(({ accountId }) => !accountIds.includes(accountId))
      .map(({ accountId, orderId }) => ({ accountId, orderId })),
    versionRecords: [
      {
        orderId: change.orderId,
        version: change.version,
        ownerAccountId: change.ownerAccountId,
        accountIds,
        createdKey: change.createdKey ?? record?.createdKey ?? null,
        hasUpdatedAt,
        deleted: change.deleted,
      },
    ],
  }
}

/** The documents that there may be of an order, by its head and by those that were found. */
export function viewKeys(
  orderId: string,
  record: OrderVersionRecord | undefined,
  orphans: readonly ViewKey[],
): ViewKey[] {
  const found = orphans.map(({ accountId }) => accountId)
  const accountIds = new Set([...(record?.accountIds ?? []), ...found])
  return [...accountIds].map((accountId) => ({ accountId, orderId }))
}

/** The first version of an order keeps its date, when it is history that is written. */
function isFirstBackFill(mode: WriteMode, record: OrderVersionRecord | undefined): boolean {
  return mode === 'back-fill' && record === undefined
}

function isOlder(change: Change, record: OrderVersionRecord, policy: EqualVersionPolicy): boolean {
  if (change.version !== record.version) return change.version < record.version
  if (policy === 'drop' || record.deleted !== change.deleted) return true // What was erased stays erased.
  return policy === 'reproject' && change.deleted
}

function isReadable(view: StoredView | UnreadableView): view is StoredView {
  return !('isUnreadable' in view)
}

function unreadableDocumentError({ accountId, orderId }: ViewKey): ValidationError {
  const reason = `the document of account ${accountId} in the index is no order, as after a change by hand, so ${orderId} cannot be compared with it: "index load --repair" replaces it`
  return { path: '', reason }
}

/** Whether the documents of a version that is there already, or the head, become others. */
function changesSomething(
  { views, removals, versionRecords: [next] }: BulkWrites,
  record: OrderVersionRecord,
): boolean {
  if (views.length + removals.length > 0 || next === undefined) return true
  const accountsOf = ({ accountIds }: OrderVersionRecord) => [...accountIds].sort().join(' ')
  return next.hasUpdatedAt !== record.hasUpdatedAt || accountsOf(next) !== accountsOf(record)
}

const hasOlderSchema = ({ schemaVersion }: StoredView) => schemaVersion < ORDER_SCHEMA_VERSION

/** The dates of a document that stays what it is to every reader. */
function keptDates({
  updatedKey,
  writtenKey,
}: StoredView): Pick<ViewWrite, 'updatedAt' | 'writtenKey'> {
  const updatedAt = updatedKey === NULL_UPDATED_KEY ? null : updatedKey
  return { updatedAt, ...(writtenKey !== undefined && { writtenKey }) }
}

/** An order that gets its first date is written even when nothing else changed. */
function hasNewContent({ order }: View, stored: StoredView, hasUpdatedAt: boolean): boolean {
  if (hasUpdatedAt && stored.updatedKey === NULL_UPDATED_KEY) return true
  return !hasSameContent(stored, order)
}
