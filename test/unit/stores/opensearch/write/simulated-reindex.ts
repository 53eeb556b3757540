import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import type { OpenSearch } from '../../../../../src/stores/opensearch/client/client.ts'
import { indexNames } from '../../../../../src/stores/opensearch/indices/index-names.ts'
import { isSameTargets } from '../../../../../src/stores/opensearch/lease-document.ts'
import type { WriteTargets } from '../../../../../src/stores/opensearch/reindex/change-write-targets.ts'
import { createReindexing } from '../../../../../src/stores/opensearch/reindex/reindexing.ts'
import type { RequestedTargets } from '../../../../../src/stores/opensearch/reindex/requested-targets.ts'
import type { MemoryLeaseDocument } from './lease/memory-lease.ts'
import type { MemoryProcess } from './memory-client.ts'

export type Command = 'build' | 'finish' | 'rollBack'

interface ReindexSimulation {
  process: MemoryProcess
  document: MemoryLeaseDocument
  nowMs(): number
  /** A writer applies the requested targets. */
  applyTargets(): Promise<void>
}

/** The commands of a reindex, of their real parts. A writer applies the targets without a poll. */
export function createSimulatedReindex(client: OpenSearch, simulation: ReindexSimulation) {
  const targets = createSimulatedTargets(simulation)
  const options = {
    client,
    names: indexNames(''),
    deadlineMs: 1_000,
    leaseMs: 1_000,
    clock: simulation.nowMs,
    ensureIndices: { async existingOrders() {} },
  }
  return createReindexing(options, targets)
}

function createSimulatedTargets({
  process,
  document,
  applyTargets,
}: ReindexSimulation): RequestedTargets {
  const { writeAlias } = indexNames('')
  let epoch = 0
  const isRequested = ({ orders }: WriteTargets) =>
    isSameTargets(document.record()?.targets ?? [], orders)
  const isApplied = ({ orders }: WriteTargets) =>
    isSameTargets(document.record()?.fed ?? [], orders)

  return {
    async read() {
      const [live = '', ...others] = document.record()?.targets ?? []
      return { orders: [live, ...others], versionRecords: ['order-heads-v1'] }
    },
    async change(from, to) {
      await stopIfDead(process)
      const record = document.record()
      if (record === null || !(isRequested(from) || isRequested(to)))
        throw new Error('another reindex changed the write targets')
      if (!isRequested(to)) document.put({ ...record, targets: to.orders })
      while (!isApplied(to)) {
        await applyTargets().catch((error) => {
          if (!(error instanceof Unavailable)) throw error
        })
        await stopIfDead(process)
      }
      epoch = document.record()?.epoch ?? 0
    },
    epoch: () => epoch,
    aliasOf: (index) => (epoch > 0 ? writeAlias(index, epoch) : index),
  }
}

/** Never returns once the process is dead. */
async function stopIfDead({ isDead }: MemoryProcess): Promise<void> {
  if (isDead()) await new Promise<never>(() => {})
}
