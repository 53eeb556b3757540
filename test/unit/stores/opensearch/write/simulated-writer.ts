import { createWriter } from '../../../../../src/indexing/writer/writer.ts'
import { createKeyedLock } from '../../../../../src/lib/async/keyed-lock.ts'
import type { OpenSearch } from '../../../../../src/stores/opensearch/client/client.ts'
import { indexNames } from '../../../../../src/stores/opensearch/indices/index-names.ts'
import { createBulkSender } from '../../../../../src/stores/opensearch/write/bulk-sender.ts'
import { createCommitter } from '../../../../../src/stores/opensearch/write/committer.ts'
import { createFence } from '../../../../../src/stores/opensearch/write/lease/fence.ts'
import { createReadTargets } from '../../../../../src/stores/opensearch/write/read-targets.ts'
import { createTransactions } from '../../../../../src/stores/opensearch/write/transactions.ts'
import { createWrittenStates } from '../../../../../src/stores/opensearch/write/written-states.ts'
import type { createLeaseHolders } from './lease/lease-holders.ts'

/** Acquires the lease, whose document is in memory. */
type StartLease = (
  fence: ReturnType<typeof createFence>,
) => ReturnType<ReturnType<typeof createLeaseHolders>['startWriter']>

export type SimulatedWriter = Awaited<ReturnType<typeof startWriter>>

/** A writer of its real parts. */
export async function startWriter(client: OpenSearch, startLease: StartLease) {
  const names = indexNames('')
  const options = { client, names, deadlineMs: 1_000, onDelay() {} }
  const { lease, clock } = await startLease(createFence(options))
  const written = createWrittenStates()
  const { send } = createBulkSender({ ...options, lease, written })
  const committer = createCommitter({ lease, written, send })
  const targets = createReadTargets(lease, names)
  const subscribers = async () => new Set<string>()
  const keyedLock = createKeyedLock()
  const index = {
    async lock(orderIds: readonly string[]) {
      const session = keyedLock.openSession()
      await session.acquire(orderIds)
      const transactions = createTransactions({
        ...options,
        committer,
        targets,
        written,
        subscribers,
      })
      return { ...transactions, release: () => session.release() }
    },
  }
  return { clock, committer, write: createWriter(index, () => clock.nowMs).write }
}
