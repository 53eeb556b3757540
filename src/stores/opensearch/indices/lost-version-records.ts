import { retryUntilDeadline } from '../../../lib/async/retry-until-deadline.ts'
import { IndexLost, VERSION_RECORD_INDEX } from '../../index-lost.ts'
import { hasAlias } from '../client/aliases.ts'
import { countDocuments } from '../client/shards.ts'
import { type LeaseState, leaseDocument } from '../lease-document.ts'
import { concreteIndex, type IndexNames, indexVersion } from './index-names.ts'
import type { IndexPresence, PresenceOptions } from './index-presence.ts'

/**
 * Whether no index of version records is left although something was written. A first start that
 * was interrupted has written nothing.
 * @throws Unavailable
 */
export async function areVersionRecordsLost(
  options: PresenceOptions,
  { records }: IndexPresence,
): Promise<boolean> {
  const { client, names, deadlineMs } = options
  if (records.some((index) => isVersionOf(names.versionRecords, index))) return false
  if (await hasAlias(client, deadlineMs, names.versionRecords)) return false
  if (!(await hasWritten(options, records))) return false
  // Read again, because another process may have created them meanwhile, and then written.
  return !(await hasAlias(client, deadlineMs, names.versionRecords))
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
export function versionRecordsLostError({ versionRecords }: IndexNames): IndexLost {
  return new IndexLost(
    `there is no index ${versionRecords}, and the writer lease or the orders remember writes`,
    'An empty one would accept versions older than the stored orders, also of erased orders. ',
    VERSION_RECORD_INDEX,
  )
}

function isVersionOf(alias: string, index: string): boolean {
  return index === concreteIndex(alias, indexVersion(index))
}
