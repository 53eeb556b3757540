import { NULL_INSTANT_KEY, type ViewKey } from '../../orders/order-store.ts'
import type { Change, ValidationError } from '../projection/change.ts'
import type { View } from '../projection/order-views.ts'
import {
  hasNewContent,
  hasOlderSchema,
  isConfirmedRemoval,
  isReadable,
  isUnconfirmed,
  keptDates,
} from './found-views.ts'
import type { BulkWrites, FoundView, StoredView, ViewWrite, WriteMode } from './order-index.ts'
import type { OrderVersionRecord } from './version-record.ts'

/** The result of one change. */
export type WriteResult = 'written' | 'unchanged' | 'older' | ValidationError

/** Whether the change was rejected. */
export function isRejected(result: WriteResult | undefined): result is ValidationError {
  return typeof result === 'object'
}

/**
 * How to treat a version that the index already has. `drop` ignores it. `reproject` rewrites its
 * documents of an older schema version. `repair` also writes documents that are missing, damaged or
 * different, and removes those of other accounts. `rewrite` gives its dated documents a new date.
 */
export type EqualVersionPolicy = 'drop' | 'reproject' | 'repair' | 'rewrite'

/** How the changes of a bulk are compared with the index. */
export interface DecideOptions {
  mode: WriteMode
  policy: EqualVersionPolicy
  /** Changes made before it announce nothing, epoch milliseconds; every change may when absent. */
  announceSinceMs?: number | undefined
}

/**
 * Compares a change with the version record of its order; `undefined` accepts it. An equal version
 * may be accepted: its stored documents decide then ({@link checkDocuments}). Pure.
 */
export function checkVersion(
  change: Change,
  record: OrderVersionRecord | undefined,
  { mode, policy }: DecideOptions,
  nowMs: number,
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
  if (isFirstOfHistory(mode, record) && change.changedAt !== null && change.changedAt > nowMs) {
    return { path: '/changed_at', reason: 'expected an instant that is not in the future' }
  }
  return undefined
}

/**
 * Compares a decided change with the documents of its order; `undefined` accepts it. Rejects a
 * change that needs an unreadable document for comparison. Drops an equal version that has no
 * effect. Pure.
 */
export function checkDocuments(
  change: Change,
  record: OrderVersionRecord | undefined,
  stored: readonly FoundView[],
  decided: BulkWrites,
  policy: EqualVersionPolicy,
): WriteResult | undefined {
  const isReplaced = (key: ViewKey) =>
    change.views.some(({ accountId }) => accountId === key.accountId)
  const unreadable = stored.find((view) => 'isUnreadable' in view && isReplaced(view))
  if (unreadable !== undefined && policy !== 'repair') return unreadableDocumentError(unreadable)
  if (change.version !== record?.version) return undefined
  const hasEffect =
    policy === 'reproject'
      ? stored.some((view) => isReadable(view) && hasOlderSchema(view))
      : changesSomething(decided, record)
  return hasEffect ? undefined : 'older'
}

/**
 * The writes of an accepted change. `stored`: the documents of its order. `reproject` rewrites
 * documents of an older schema version and keeps their dates when their content is unchanged. Pure.
 */
export function decide(
  change: Change,
  record: OrderVersionRecord | undefined,
  stored: readonly FoundView[],
  { mode, policy }: DecideOptions,
): BulkWrites {
  const readable = stored.filter(isReadable)
  // After a crash between documents and version records, only the document has the date.
  const isDated = readable.some(({ updatedKey }) => updatedKey !== NULL_INSTANT_KEY)
  const hasUpdatedAt = change.changedAt !== null || isDated || (record?.hasUpdatedAt ?? false)
  const storedFor = new Map(readable.map((view) => [view.accountId, view]))
  const accountIds = change.views.map(({ accountId }) => accountId)
  function updatedAtOf({ accountId }: View): number | 'write-timestamp' | null {
    if (!hasUpdatedAt) return null
    const isFirst = isFirstOfHistory(mode, record) && !storedFor.has(accountId)
    return (isFirst ? change.changedAt : null) ?? 'write-timestamp'
  }
  // After a loss of the version records, a repair keeps the dates.
  const redatesUnconfirmed = mode === 'live' && (record !== undefined || policy !== 'repair')
  const mustWrite = (view: View, before: StoredView) =>
    hasNewContent(view, before, hasUpdatedAt) ||
    (redatesUnconfirmed && isUnconfirmed(before, record)) ||
    (policy === 'repair' && !before.isIntact(view)) ||
    (policy === 'rewrite' && hasUpdatedAt)

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
      .filter((view) => !accountIds.includes(view.accountId) && !isConfirmedRemoval(view, record))
      .map(({ accountId, orderId }) => ({ accountId, orderId })),
    eventRecords: [],
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

/** The possible documents of an order: those of its version record and those found by search. */
export function viewKeys(
  orderId: string,
  record: OrderVersionRecord | undefined,
  orphans: readonly ViewKey[],
): ViewKey[] {
  const found = orphans.map(({ accountId }) => accountId)
  const accountIds = new Set([...(record?.accountIds ?? []), ...found])
  return [...accountIds].map((accountId) => ({ accountId, orderId }))
}

/** A load of history keeps the date of the first version of an order. */
function isFirstOfHistory(mode: WriteMode, record: OrderVersionRecord | undefined): boolean {
  return mode === 'history' && record === undefined
}

function isOlder(change: Change, record: OrderVersionRecord, policy: EqualVersionPolicy): boolean {
  if (change.version !== record.version) return change.version < record.version
  // A tombstone of this version stays.
  if (policy === 'drop' || record.deleted !== change.deleted) return true
  return policy === 'reproject' && change.deleted
}

function unreadableDocumentError({ accountId, orderId }: ViewKey): ValidationError {
  const reason = `the document of account ${accountId} in the index cannot be parsed as an order, so ${orderId} cannot be compared with it: replace it with "index load --repair"`
  return { path: '', reason }
}

/** Whether the writes change any document of an equal version, or its version record. */
function changesSomething(
  { views, removals, versionRecords: [next] }: BulkWrites,
  record: OrderVersionRecord,
): boolean {
  if (views.length + removals.length > 0 || next === undefined) return true
  const accountsOf = ({ accountIds }: OrderVersionRecord) => [...accountIds].sort().join(' ')
  return next.hasUpdatedAt !== record.hasUpdatedAt || accountsOf(next) !== accountsOf(record)
}
