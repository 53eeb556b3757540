import { type AfterLoss, IndexLost, NOTHING_LOST } from '../index-lost.ts'
import { type PresenceOptions, readPresence } from './index-presence.ts'
import { indexBehind, versionOf } from './names.ts'
import { createPrepare } from './prepare.ts'
import { leaseDocument } from './writer/lease-document.ts'

/**
 * Makes the lost index of the orders anew, empty. Version records and lease stay, so no stamp and no version goes back.
 * It gets the name of the lost one, which is the first target of the lease: a writer at work goes on there once it has
 * raised its fence. Other targets are taken out first, since a fence cannot be raised over one that is gone.
 * @throws Unavailable; Error where nothing is lost, or a whole copy may still exist
 */
export async function initOpenSearchAfterLoss(options: PresenceOptions): Promise<AfterLoss> {
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
  const hasLease = records.some((name) => name === indexBehind(names.writer, versionOf(name)))
  const document = leaseDocument(client, names, deadlineMs)
  for (;;) {
    const lease = hasLease ? await document.read() : null
    const [first = indexBehind(names.orders, 1), ...others] = lease?.record.targets ?? []
    const kept = lease === null ? versions[0] : versions.find((name) => name === first)
    if (kept !== undefined) {
      throw new IndexLost(
        `there is no alias ${names.orders}`,
        `${kept} exists, nothing was made in its place: where it is whole, add the alias with POST _aliases. Else delete it and try again. `,
      )
    }
    const older = others.find(
      (name) => versions.includes(name) && versionOf(name) < versionOf(first),
    )
    if (older !== undefined) {
      throw new IndexLost(
        `there is no alias ${names.orders}`,
        `${older} was still fed and has what the lost one had: "index reindex --rollback" reads it again. `,
      )
    }
    const alone = lease && { ...lease.record, targets: [first] }
    if (others.length > 0 && alone && !(await document.replace(lease, alone))) continue
    await createPrepare(client, names, deadlineMs).ordersAfterLoss(first)
    return { made: first, unused: others.filter((name) => versions.includes(name)) }
  }
}
