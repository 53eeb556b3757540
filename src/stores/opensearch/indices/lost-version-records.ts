import { retryUntilDeadline } from '../../../lib/async/retry-until-deadline.ts'
import { IndexLost, VERSION_RECORD_INDEX } from '../../index-lost.ts'
import { hasAlias } from '../client/aliases.ts'
import { countDocuments } from '../client/shards.ts'
import { type LeaseState, leaseDocument } from '../lease-document.ts'
import { concreteIndex, indexVersion, isVersionOf } from './index-names.ts'
import type { IndexPresence, PresenceOptions } from './index-presence.ts'

/**
 * The index of version records that is lost: the writer would read it, and something was written.
 * `null` without a loss. A first start that was interrupted has written nothing.
 * @throws Unavailable
 */
export async function findLostVersionRecords(
  options: PresenceOptions,
  { records, hasVersionRecords }: IndexPresence,
): Promise<string | null> {
  const { client, names, deadlineMs } = options
  const hasRecordAlias = () => hasAlias(client, deadlineMs, names.versionRecords)
  // The alias may be on an index of another name, such as a restored one.
  if (hasVersionRecords || (await hasRecordAlias())) return null
  const existing = records.filter((index) => isVersionOf(names.versionRecords, index))
  const lease = await readLease(options, records)
  // Without a lease, any version may only lack the alias.
  if (lease === null && existing.length > 0) return null
  if (lease === null && !(await hasDocuments(options, names.orders))) return null
  const [read = concreteIndex(names.versionRecords, 1), other = read] =
    lease?.record.version_records ?? []
  if (existing.includes(read)) return null
  // After the switch of a reindex, the older index has every record, and a rollback makes it live.
  // Before the switch, the newer one is incomplete.
  if (indexVersion(other) < indexVersion(read) && existing.includes(other)) return null
  // Read again, because another process may have created them meanwhile, and then written.
  return (await hasRecordAlias()) ? null : read
}

/** The lease, unless its index is missing. @throws Unavailable */
export async function readLease(
  { client, names, deadlineMs }: PresenceOptions,
  records: readonly string[],
): Promise<LeaseState | null> {
  if (!records.some((index) => isVersionOf(names.writer, index))) return null
  const { read } = leaseDocument(client, names, deadlineMs)
  // Another process may have created the index just now, and its shard may not have started.
  return retryUntilDeadline({ deadlineMs, activity: 'reading the writer lease' }, read)
}

/**
 * Whether a writer has used the existing index of the orders. Tombstones count too: without its
 * version record, an erased order could be restored.
 * @throws Unavailable
 */
export async function hasWritten(
  options: PresenceOptions,
  records: readonly string[],
): Promise<boolean> {
  if ((await readLease(options, records)) !== null) return true
  return hasDocuments(options, options.names.orders)
}

/** Whether the index has a searchable document. @throws Unavailable */
export async function hasDocuments(
  { client, deadlineMs }: PresenceOptions,
  index: string,
): Promise<boolean> {
  const count = () => countDocuments(client, deadlineMs, index, { query: { match_all: {} } })
  // Another process may have created the index just now, and its shards may not have started.
  return (await retryUntilDeadline({ deadlineMs, activity: `counting ${index}` }, count)) > 0
}

/** The error for lost version records, with the ways to recover. */
export function versionRecordsLostError(index: string): IndexLost {
  return new IndexLost(
    `there is no index ${index}, and the writer lease or the orders remember writes`,
    'An empty one would accept versions older than the stored orders, also of erased orders. ',
    VERSION_RECORD_INDEX,
  )
}
