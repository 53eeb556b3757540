import {
  type BulkWrites,
  type IndexReader,
  mapTransactions,
  type OrderIndex,
  type WriteMode,
} from '../../../src/indexing/writer/order-index.ts'
import type { OrderVersionRecord } from '../../../src/indexing/writer/version-record.ts'

export interface BulkOptions {
  mode?: WriteMode
  /** The orders to lock. */
  orderIds?: readonly string[]
}

/** Writes what `decide` returns, and repeats it as the writer does, until a commit succeeds. */
export async function writeBulk(
  index: Pick<OrderIndex, 'lock'>,
  decide: (reader: IndexReader) => Promise<BulkWrites> | BulkWrites,
  { mode = 'history', orderIds = [] }: BulkOptions = {},
): Promise<void> {
  const lock = await index.lock(orderIds)
  try {
    for (;;) {
      const transaction = await lock.begin()
      if (await transaction.commit(await decide(transaction), mode)) return
    }
  } finally {
    lock.release()
  }
}

/** Replaces the version record of an order, as an unfinished writer leaves it. */
export async function putVersionRecord(
  index: Pick<OrderIndex, 'lock'>,
  record: OrderVersionRecord,
): Promise<void> {
  const orderIds = [record.orderId]
  await writeBulk(
    index,
    async (reader) => {
      await reader.versionRecords(orderIds)
      return { views: [], removals: [], eventRecords: [], versionRecords: [record] }
    },
    { orderIds },
  )
}

/**
 * The same index, but `intercept` receives the writes of each commit first, and replaces them or
 * throws.
 */
export function interceptCommits(
  index: Pick<OrderIndex, 'lock'>,
  intercept: (writes: BulkWrites) => BulkWrites | Promise<BulkWrites>,
): Pick<OrderIndex, 'lock'> {
  return mapTransactions(index, (transaction) => ({
    ...transaction,
    commit: async (writes, mode) => transaction.commit(await intercept(writes), mode),
  }))
}
