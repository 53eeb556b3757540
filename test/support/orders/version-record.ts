import type { OrderVersionRecord } from '../../../src/indexing/writer/version-record.ts'

/** The version record of `sourceOrder()`. */
export function versionRecord(changes: Partial<OrderVersionRecord> = {}): OrderVersionRecord {
  return {
    orderId: 'ord_1',
    version: 1,
    ownerAccountId: 'acc_1',
    accountIds: ['acc_1'],
    createdKey: Date.parse('2026-03-01T12:00:00Z'),
    hasUpdatedAt: true,
    deleted: false,
    ...changes,
  }
}
