import type { WriterPurpose } from '../../../indexing/writer/order-index.ts'
import { type OpenSearch, write } from '../client/client.ts'
import { readDocument, type StoredDocument } from '../client/documents.ts'
import { CONFLICT, isRejectedWith } from '../client/errors.ts'
import type { IndexNames } from '../index-names.ts'

/** What the writers of an index agree on: one document, changed by compare-and-set alone. */
export interface LeaseRecord {
  /** Grows with every writer, and whenever one fences off what it sent itself. */
  epoch: number
  /** Who holds it, unlike anybody else. */
  holder: string
  /** What it is held for. */
  purpose: WriterPurpose
  /** Handed back: the next writer need not wait. */
  released: boolean
  /** How long it lasts without being renewed, in milliseconds, by the holder's setting. */
  lease_ms: number
  /** No stamp above this was ever given, epoch milliseconds. */
  stamp_ceiling: number
  /** The indices that are to be fed; the first is the one that is read. Anybody may change them. */
  targets: readonly string[]
  /** Those that every bulk goes to: the writer's answer to a change of the targets. */
  fed: readonly string[]
  /** Whether any writer ever sent a bulk in live mode. */
  stamped_live: boolean
}

/** The record in one of its states. */
export interface LeaseState {
  record: LeaseRecord
  state: StoredDocument['state']
}

export interface LeaseDocument {
  read(): Promise<LeaseState | null>
  /** Replaces just this state, or makes the first one; `null` when the document is in another. */
  replace(expected: LeaseState | null, record: LeaseRecord): Promise<LeaseState | null>
}

const ID = 'orders'

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
      const condition = expected === null ? { op_type: 'create' as const } : expected.state
      try {
        const { _seq_no, _primary_term } = await write(deadlineMs, (options) =>
          client.index({ ...address, ...condition, require_alias: true, body: record }, options),
        )
        return { record, state: { if_seq_no: _seq_no, if_primary_term: _primary_term } }
      } catch (error) {
        if (isRejectedWith(error, CONFLICT)) return null
        throw error
      }
    },
  }
}

// Records of earlier versions have none of these. Whether those writers stamped live is unknown: assume it.
const DEFAULTS = { purpose: 'load', fed: [], stamped_live: true }

function leaseRecord(source: unknown): LeaseRecord {
  const record: LeaseRecord = { ...DEFAULTS, ...Object(source) }
  const numbers = [record.epoch, record.lease_ms, record.stamp_ceiling]
  const hasTargets = Array.isArray(record.targets) && record.targets.length > 0
  if (numbers.every(Number.isSafeInteger) && hasTargets) return record
  throw new Error(
    'the document of the writer’s lease is damaged: expected epoch, lease and ceiling',
  )
}

/** How far a ceiling is ahead of what may be stamped when it is confirmed. */
export const headroomMs = (leaseMs: number) => Math.ceil(leaseMs / 2)

/** What was stamped at most, by the record: of a lease that is held, when it was last confirmed. */
export function maxIssuedTimestamp({ released, stamp_ceiling, lease_ms }: LeaseRecord): number {
  return released ? stamp_ceiling : stamp_ceiling - headroomMs(lease_ms)
}

/** Whether these are the same indices, in the same order. */
export function isSameTargets(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, at) => one === others[at])
}
