import {
  IndexLost,
  type IndexRecovery,
  KEY_STORE,
  NOTHING_LOST,
  ORDERS_INDEX,
  VERSION_RECORD_INDEX,
} from '../../index-lost.ts'
import { existingIndices } from '../client/aliases.ts'
import { type LeaseRecord, leaseDocument } from '../lease-document.ts'
import { createEnsureIndices } from './ensure-indices.ts'
import { concreteIndex, indexVersion } from './index-names.ts'
import { type IndexPresence, type PresenceOptions, readPresence } from './index-presence.ts'
import { type KeyPresence, readKeyPresence } from './lost-keys.ts'
import { findLostVersionRecords, readLease } from './lost-version-records.ts'

type RecoveryOptions = PresenceOptions & { shards?: number }

/**
 * Recreates the lost index of the orders, of the version records, or of keys and accounts, empty:
 * one at each call, in this sequence.
 * @throws Unavailable; Error when no index is lost, or a complete copy may exist
 */
export async function initOpenSearchAfterLoss(options: RecoveryOptions): Promise<IndexRecovery> {
  const presence = await readPresence(options)
  if (presence.kind === 'lost') return recreateOrders(options, presence)
  const lostRecords =
    presence.kind === 'present' ? await findLostVersionRecords(options, presence) : null
  if (lostRecords !== null) return recreateVersionRecords(options, presence, lostRecords)
  const keys = await readKeyPresence(options)
  if (keys.areLost) return recreateKeys(options, keys)
  if (presence.kind === 'never-created')
    throw new Error(`${NOTHING_LOST}: there was no index yet: run "index init", which creates it`)
  throw new Error(`${NOTHING_LOST}: the alias ${options.names.orders} leads to an index`)
}

/**
 * Recreates the lost orders index. Version records and the lease stay, so write timestamps and
 * versions never decrease. The index keeps its name, which is the first target of the lease: an
 * active writer continues there after its next fence. Other targets are removed from the lease
 * first, since a fence fails on a missing index.
 * @throws Unavailable; IndexLost when a complete copy may exist
 */
async function recreateOrders(
  options: RecoveryOptions,
  presence: IndexPresence,
): Promise<IndexRecovery> {
  const { client, names, deadlineMs, shards } = options
  const { records, versions } = presence
  const document = leaseDocument(client, names, deadlineMs)
  for (;;) {
    const lease = await readLease(options, records)
    const [first = concreteIndex(names.orders, 1), ...others] = lease?.record.targets ?? []
    const surviving = lease === null ? versions[0] : versions.find((name) => name === first)
    if (surviving !== undefined) {
      throw new IndexLost(
        `there is no alias ${names.orders}`,
        `${surviving} exists, so no index was created: if it is complete, add the alias with POST _aliases. Otherwise delete it and try again. `,
      )
    }
    const olderTarget = others.find(
      (name) => versions.includes(name) && indexVersion(name) < indexVersion(first),
    )
    if (olderTarget !== undefined) {
      throw new IndexLost(
        `there is no alias ${names.orders}`,
        `${olderTarget} was still a write target and has all documents of the lost index: "index reindex --rollback" makes it live again. `,
      )
    }
    const survivors = lease && withSurvivors(lease.record, first, records)
    if (survivors !== null && !(await document.replace(lease, survivors))) continue
    await createEnsureIndices(client, names, deadlineMs, shards).recreateOrders(first)
    const unused = others.filter((name) => versions.includes(name))
    return { created: first, lost: ORDERS_INDEX, unused }
  }
}

/**
 * Recreates the lost version records under the first name in the lease. Other names are removed
 * from it first, since a fence fails on a missing index.
 */
async function recreateVersionRecords(
  options: RecoveryOptions,
  { records }: IndexPresence,
  lost: string,
): Promise<IndexRecovery> {
  const { client, names, deadlineMs, shards } = options
  const document = leaseDocument(client, names, deadlineMs)
  for (;;) {
    const lease = await readLease(options, records)
    const [first = lost, ...others] = lease?.record.version_records ?? []
    const alone = lease && others.length > 0 && { ...lease.record, version_records: [first] }
    if (alone && !(await document.replace(lease, alone))) continue
    await createEnsureIndices(client, names, deadlineMs, shards).recreateVersionRecords(first)
    const unused = others.filter((index) => records.includes(index))
    return { created: first, lost: VERSION_RECORD_INDEX, unused }
  }
}

/** Creates nothing beside an index that only lost its alias. @throws IndexLost then */
async function recreateKeys(
  options: RecoveryOptions,
  { missing }: KeyPresence,
): Promise<IndexRecovery> {
  const { client, names, deadlineMs } = options
  const created = missing.map((alias) => concreteIndex(alias, 1))
  const withoutAlias = await existingIndices(client, deadlineMs, created)
  if (withoutAlias.length > 0) {
    throw new IndexLost(
      `there is no alias ${missing.join(' and no alias ')}`,
      `${withoutAlias.join(' and ')} may be complete: then add its alias with POST _aliases. Otherwise delete it. Then try again. `,
      KEY_STORE,
    )
  }
  await createEnsureIndices(client, names, deadlineMs).recreateKeys()
  return { created: created.join(' and '), lost: KEY_STORE, unused: [] }
}

/**
 * The lease with the first target alone, and with the first index of version records that is left.
 * Without one, the alias decides.
 */
function withSurvivors(
  record: LeaseRecord,
  first: string,
  existing: readonly string[],
): LeaseRecord {
  const { version_records: named, ...rest } = record
  const version_records = (named ?? []).filter((index) => existing.includes(index)).slice(0, 1)
  return { ...rest, targets: [first], ...(version_records.length > 0 && { version_records }) }
}
