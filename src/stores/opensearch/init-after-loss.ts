import { IndexLost, type IndexRecovery, NOTHING_LOST } from '../index-lost.ts'
import { createEnsureIndices } from './ensure-indices.ts'
import { concreteIndex, indexVersion } from './index-names.ts'
import { type PresenceOptions, readPresence } from './index-presence.ts'
import { leaseDocument } from './write/lease-document.ts'

/**
 * Makes the lost index of the orders anew, empty. Version records and lease stay, so no stamp and no version goes back.
 * It gets the name of the lost one, which is the first target of the lease: a writer at work goes on there once it has
 * raised its fence. Other targets are taken out first, since a fence cannot be raised over one that is gone.
 * @throws Unavailable; Error where nothing is lost, or a whole copy may still exist
 */
export async function initOpenSearchAfterLoss(options: PresenceOptions): Promise<IndexRecovery> {
  const { client, names, deadlineMs } = options
  const presence = await readPresence(options)
  if (presence.kind !== 'lost') {
    const why =
      presence.kind === 'present'
        ? `the alias ${names.orders} leads to an index`
        : 'there was no index yet, "index init" makes it'
    throw new Error(`${NOTHING_LOST}: ${why}`)
  }
  const { records, versions } = presence
  const hasLease = records.some((name) => name === concreteIndex(names.writer, indexVersion(name)))
  const document = leaseDocument(client, names, deadlineMs)
  for (;;) {
    const lease = hasLease ? await document.read() : null
    const [first = concreteIndex(names.orders, 1), ...others] = lease?.record.targets ?? []
    const surviving = lease === null ? versions[0] : versions.find((name) => name === first)
    if (surviving !== undefined) {
      throw new IndexLost(
        `there is no alias ${names.orders}`,
        `${surviving} exists, nothing was made in its place: where it is whole, add the alias with POST _aliases. Else delete it and try again. `,
      )
    }
    const olderTarget = others.find(
      (name) => versions.includes(name) && indexVersion(name) < indexVersion(first),
    )
    if (olderTarget !== undefined) {
      throw new IndexLost(
        `there is no alias ${names.orders}`,
        `${olderTarget} was still fed and has what the lost one had: "index reindex --rollback" reads it again. `,
      )
    }
    const firstTargetOnly = lease && { ...lease.record, targets: [first] }
    if (others.length > 0 && firstTargetOnly && !(await document.replace(lease, firstTargetOnly)))
      continue
    await createEnsureIndices(client, names, deadlineMs).recreateOrders(first)
    return { created: first, unused: others.filter((name) => versions.includes(name)) }
  }
}
