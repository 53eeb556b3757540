import type { DiskMap } from '../../lib/files/disk-map.ts'
import { type Change, isValidationError, type ValidationError } from '../projection/change.ts'
import { type ComparedChange, compareChanges } from './compare-changes.ts'
import type { Inconsistency } from './inconsistency.ts'
import type { IndexInspection } from './index-inspection.ts'
import type { Recheck } from './recheck.ts'

/** One source order of those that should be in the index. */
export interface SourceEntry {
  /** Where it was read, in words for an operator, such as `line 12`. */
  place: string
  bytes: number
  result: Change | ValidationError
}

/** What is remembered of an order: facts of its newest version, never its content. */
export interface ComparedOrder {
  version: number
  /** The accounts that see this version; `null` when the index has a newer one. */
  accountIds: readonly string[] | null
  inconsistencies: readonly Inconsistency[]
}

export interface Comparison {
  /** Entries that were read. */
  read: number
  /** Entries that are invalid, or that conflict with this index. */
  refused: number
}

export interface CompareOptions {
  /** Receives each order by its id. */
  orders: DiskMap<ComparedOrder>
  inspection: Pick<IndexInspection, 'versionRecords' | 'documents' | 'existingKeys'>
  recheck: Recheck
  onRejected(place: string, error: ValidationError): void
  /** Called after each batch. */
  onProgress(comparison: Readonly<Comparison>): void
}

interface PendingEntry {
  place: string
  bytes: number
  change: Change
}

interface Limits {
  entries: number
  bytes: number
}

const BATCH: Limits = { entries: 500, bytes: 4 * 1024 * 1024 }
/** How many candidates share a recheck, since each recheck waits for a second. */
const CANDIDATES: Limits = { entries: 2_000, bytes: 16 * 1024 * 1024 }
const NO_INCONSISTENCIES: readonly Inconsistency[] = []

/**
 * Compares the index with source orders in any sequence. The newest version of an order counts; of
 * two entries of one version the first, as for a writer. Memory holds one batch of orders, and the
 * candidates for a recheck.
 */
export async function compareOrders(
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>,
  { orders, inspection, recheck, onRejected, onProgress }: CompareOptions,
): Promise<Comparison> {
  const comparison: Comparison = { read: 0, refused: 0 }
  let batch: PendingEntry[] = []
  let candidates: PendingEntry[] = []

  function reject(place: string, error: ValidationError) {
    comparison.refused++
    onRejected(place, error)
  }

  /** Stores a comparison and returns whether it needs a recheck. */
  function record(compared: ComparedChange): boolean {
    const { orderId, version, views } = compared.change
    if ('inconsistencies' in compared) {
      const inconsistencies =
        compared.inconsistencies.length > 0 ? compared.inconsistencies : NO_INCONSISTENCIES
      orders.set(orderId, {
        version,
        accountIds:
          compared.status === 'superseded' ? null : views.map(({ accountId }) => accountId),
        inconsistencies,
      })
      return inconsistencies !== NO_INCONSISTENCIES
    }
    orders.set(orderId, { version, accountIds: null, inconsistencies: NO_INCONSISTENCIES })
    return false
  }

  async function compareBatch() {
    const results = await compareChanges(
      inspection,
      batch.map(({ change }) => change),
    )
    for (const [position, compared] of results.entries()) {
      const { orderId, version } = compared.change
      const entry = batch[position]
      const known = orders.get(orderId)
      if (entry === undefined) throw new Error('a comparison without an entry')
      if (compared.status === 'rejected') {
        reject(entry.place, compared.error)
        // The index has the order, so its other entries still count.
        if (known === undefined) record({ ...compared, change: { ...compared.change, version: 0 } })
      } else if (known === undefined || known.version < version) {
        if (record(compared)) candidates.push(entry)
      }
    }
    batch = []
    if (isFull(candidates, CANDIDATES)) await recheckCandidates()
    onProgress(comparison)
  }

  async function recheckCandidates() {
    await recheck(candidates, async (left) => {
      // A newer version that was read meanwhile replaces this one.
      const current = left.filter(
        ({ change }) => orders.get(change.orderId)?.version === change.version,
      )
      const results = await compareChanges(
        inspection,
        current.map(({ change }) => change),
      )
      const inconsistent = new Set(results.filter(record).map(({ change }) => change))
      return current.filter(({ change }) => inconsistent.has(change))
    })
    candidates = []
  }

  for await (const { place, bytes, result } of entries) {
    comparison.read++
    if (isValidationError(result)) reject(place, result)
    else batch.push({ place, bytes, change: result })
    if (isFull(batch, BATCH)) await compareBatch()
  }
  await compareBatch()
  await recheckCandidates()
  return comparison
}

function isFull(entries: readonly PendingEntry[], limits: Limits): boolean {
  const bytes = entries.reduce((sum, { bytes }) => sum + bytes, 0)
  return entries.length >= limits.entries || bytes >= limits.bytes
}
