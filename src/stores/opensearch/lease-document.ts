import type { WriterPurpose } from '../../indexing/writer/order-index.ts'
import type { OpenSearch } from './client/client.ts'
import { readDocument, type StoredDocument } from './client/documents/read-documents.ts'
import { replaceDocument } from './client/documents/replace-document.ts'
import type { IndexNames } from './indices/index-names.ts'

/**
 * The shared state of all writers: one document, changed by compare-and-set only. See
 * `write/lease/lease.md`.
 */
export interface LeaseRecord {
  /** Increases with every writer, and when a writer fences off its own bulks. */
  epoch: number
  /** Unique name of the holding process. */
  holder: string
  purpose: WriterPurpose
  /** The holder ended cleanly, so the next writer need not wait. */
  released: boolean
  /** Validity without a renewal, in milliseconds; the holder's setting. */
  lease_ms: number
  /** No write timestamp exceeds this, epoch milliseconds. */
  stamp_ceiling: number
  /** The requested write targets; the first becomes the live index. A reindex changes them. */
  targets: readonly string[]
  /** The write targets of every bulk: the writer confirms a change of `targets` here. */
  fed: readonly string[]
  /**
   * The indices requested for version records; the first is read. Absent in records of earlier
   * releases, which know one index only.
   */
  version_records?: readonly string[]
  /** The same as `fed`, for `version_records`. */
  fed_version_records?: readonly string[]
  /** Whether a writer ever sent a bulk in live mode. */
  stamped_live: boolean
}

/** A version of the record. */
export interface LeaseState {
  record: LeaseRecord
  state: StoredDocument['state']
}

export interface LeaseDocument {
  read(): Promise<LeaseState | null>
  /** Replaces this version, or creates the first; `null` on a conflict. */
  replace(expected: LeaseState | null, record: LeaseRecord): Promise<LeaseState | null>
}

const ID = 'orders'

/**
 * Reads and replaces the lease document of the orders. `deadlineMs` limits each request. A call
 * throws Unavailable, RequestRejectedError, or Error for a damaged document.
 */
export function leaseDocument(
  client: OpenSearch,
  names: IndexNames,
  deadlineMs: number,
): LeaseDocument {
  const address = { index: names.writer, id: ID }
  return {
    async read() {
      const found = await readDocument(client, deadlineMs, address)
      return found && { record: leaseRecord(found.source), state: found.state }
    },
    async replace(expected, record) {
      const state = await replaceDocument(
        client,
        { deadlineMs },
        address,
        expected?.state ?? null,
        record,
      )
      return state && { record, state }
    },
  }
}

// Absent in records of earlier releases. Assume that those writers sent live bulks.
const DEFAULTS = { purpose: 'load', fed: [], stamped_live: true }

function leaseRecord(source: unknown): LeaseRecord {
  const record: LeaseRecord = { ...DEFAULTS, ...Object(source) }
  const numbers = [record.epoch, record.lease_ms, record.stamp_ceiling]
  const hasTargets = Array.isArray(record.targets) && record.targets.length > 0
  if (numbers.every(Number.isSafeInteger) && hasTargets) return record
  throw new Error(
    'the lease document is damaged: epoch, lease_ms, stamp_ceiling or targets are invalid; restore it from a snapshot',
  )
}

/** Distance from the highest due write timestamp to a newly confirmed ceiling. */
export const headroomMs = (leaseMs: number) => Math.ceil(leaseMs / 2)

/** Upper bound of the issued write timestamps; for a held lease, as of its last renewal. */
export function maxIssuedTimestamp({ released, stamp_ceiling, lease_ms }: LeaseRecord): number {
  return released ? stamp_ceiling : stamp_ceiling - headroomMs(lease_ms)
}

/** Whether both lists name the same indices in the same order. */
export function isSameTargets(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, at) => one === others[at])
}
