import type { Announced, OrderVersionRecord } from '../../indexing/writer/order-index.ts'

/** The stored form of a version record. */
export interface VersionRecordSource {
  version: number
  owner: string
  accounts: string[]
  created_at: number | null
  filled: boolean
  deleted: boolean
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
    ...(versionRecord.announced && { announced: versionRecord.announced }),
  }
}

/** The version record of a stored form. */
export function toVersionRecord(orderId: string, source: VersionRecordSource): OrderVersionRecord {
  return {
    orderId,
    version: source.version,
    ownerAccountId: source.owner,
    accountIds: source.accounts,
    createdKey: source.created_at,
    hasUpdatedAt: source.filled,
    deleted: source.deleted,
    ...(source.announced && { announced: source.announced }),
  }
}
