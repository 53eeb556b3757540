import type { InspectedRecord } from '../../indexing/consistency-check/index-inspection.ts'
import type { Announced, OrderVersionRecord } from '../../indexing/writer/version-record.ts'
import { DocumentRejectedError } from '../../indexing/writer/writer-errors.ts'

/** The stored form of a version record. */
export interface VersionRecordSource {
  version: number
  owner: string
  accounts: string[]
  created_at: number | null
  filled: boolean
  deleted: boolean
  /** Absent in records of earlier releases, like `announced`. */
  written?: number
  announced?: Announced
}

export function toVersionRecordSource(versionRecord: OrderVersionRecord): VersionRecordSource {
  return {
    version: versionRecord.version,
    owner: versionRecord.ownerAccountId,
    accounts: [...versionRecord.accountIds],
    created_at: versionRecord.createdKey,
    filled: versionRecord.hasUpdatedAt,
    deleted: versionRecord.deleted,
    ...(versionRecord.writtenKey !== undefined && { written: versionRecord.writtenKey }),
    ...(versionRecord.announced && { announced: versionRecord.announced }),
  }
}

/** A stored version record, as OpenSearch returns it. */
export interface FoundVersionRecord {
  _id: string
  /** The index that has it. */
  _index?: string
  _source?: unknown
}

/**
 * The version record of a stored document. A guess in place of a field could restore an erased
 * order, or leave a document to an account that lost the order.
 * @throws DocumentRejectedError when the document is damaged
 */
export function toVersionRecord({ _id, _index, _source }: FoundVersionRecord): OrderVersionRecord {
  const source = Object(_source) as VersionRecordSource
  const invalid = Object.entries(FIELDS).filter(([, isValid]) => !isValid(source))
  if (invalid.length > 0) {
    const names = invalid.map(([name]) => name).join(', ')
    throw new DocumentRejectedError(
      _id,
      `the version record of ${_id} is damaged (${names} in ${_index}/_doc/${_id}): restore it from a snapshot, or delete it and write the newest version of the order, or its deletion, with "index load --repair"`,
    )
  }
  return {
    orderId: _id,
    version: source.version,
    ownerAccountId: source.owner,
    accountIds: source.accounts,
    createdKey: source.created_at,
    hasUpdatedAt: source.filled,
    deleted: source.deleted,
    ...(source.written !== undefined && { writtenKey: source.written }),
    ...(source.announced && { announced: source.announced }),
  }
}

/** The same, for a check that reports a damaged document and continues. */
export function toInspectedRecord(found: FoundVersionRecord): InspectedRecord {
  try {
    return toVersionRecord(found)
  } catch (error) {
    if (!(error instanceof DocumentRejectedError)) throw error
    return { orderId: found._id, damage: error.message }
  }
}

const FIELDS: Record<keyof VersionRecordSource, (source: VersionRecordSource) => boolean> = {
  version: ({ version }) => Number.isSafeInteger(version),
  owner: ({ owner }) => typeof owner === 'string',
  accounts: ({ accounts }) =>
    Array.isArray(accounts) && accounts.every((account) => typeof account === 'string'),
  created_at: ({ created_at }) => created_at === null || Number.isSafeInteger(created_at),
  filled: ({ filled }) => typeof filled === 'boolean',
  deleted: ({ deleted }) => typeof deleted === 'boolean',
  written: ({ written }) => written === undefined || Number.isSafeInteger(written),
  announced: ({ announced }) => announced === undefined || isAnnounced(announced),
}

function isAnnounced(announced: unknown): boolean {
  const { sequence, tracked } = Object(announced) as Partial<Announced>
  return Number.isSafeInteger(sequence) && (tracked === undefined || hasDigests(tracked))
}

function hasDigests(tracked: unknown): boolean {
  const { digests } = Object(tracked)
  return typeof digests === 'object' && digests !== null
}
