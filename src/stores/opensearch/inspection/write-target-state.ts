import type { IndexOverview } from '../../../indexing/consistency-check/index-inspection.ts'
import { existingIndices } from '../client/aliases.ts'
import { isSameTargets, type LeaseRecord, leaseDocument } from '../lease-document.ts'
import { missingTargets } from '../write/lease/missing-target.ts'
import type { OpenSearchInspectionOptions } from './inspection-options.ts'

type WriteTargetState = Pick<IndexOverview, 'missingTargets' | 'pendingTargets'>

/** The write targets of the lease that no writer can write to, or has not applied yet. */
export async function readWriteTargetState({
  client,
  names,
  deadlineMs,
}: OpenSearchInspectionOptions): Promise<WriteTargetState> {
  const document = leaseDocument(client, names, deadlineMs)
  const record = (await document.read())?.record
  if (record === undefined) return { missingTargets: [], pendingTargets: [] }
  const existing = await existingIndices(client, deadlineMs, targetLists(record).flat())
  const missing = missingTargets(targetLists(record), existing)
  // A finish or a rollback may have removed an index from the lease, then deleted it.
  const latest = missing.length === 0 ? record : ((await document.read())?.record ?? record)
  const requested = targetLists(latest).flat()
  return {
    missingTargets: missing.filter(({ name }) => requested.includes(name)),
    pendingTargets: isApplied(latest) ? [] : requested,
  }
}

const targetLists = ({ targets, version_records = [] }: LeaseRecord) => [targets, version_records]

function isApplied(record: LeaseRecord): boolean {
  const { targets, fed, version_records = [], fed_version_records = [] } = record
  // A writer of an earlier release does not confirm its only index of version records.
  const areRecordsApplied =
    version_records.length <= 1 || isSameTargets(fed_version_records, version_records)
  return isSameTargets(fed, targets) && areRecordsApplied
}
