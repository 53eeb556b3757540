import { mapTransactions, type OrderIndex } from '../../../indexing/writer/order-index.ts'
import type { IsSameFile } from '../../../lib/file-identity.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import type { OrderStore } from '../../../orders/order-store.ts'

/** The error of a call after it. */
export const replacedMessage = (file: string) =>
  `${file} was removed or replaced while this process had it open: start the process again`

/** Reads of a removed or replaced file throw Unavailable, which HTTP returns as 503. */
export function guardReads(orders: OrderStore, file: string, isSame: IsSameFile): OrderStore {
  async function guarded<T>(reading: Promise<T>): Promise<T> {
    const result = await reading
    if (!isSame()) throw new Unavailable(replacedMessage(file))
    return result
  }
  return {
    ...orders,
    findPage: (...args) => guarded(orders.findPage(...args)),
    latestWrite: (...args) => guarded(orders.latestWrite(...args)),
    get: (...args) => guarded(orders.get(...args)),
    getMany: (...args) => guarded(orders.getMany(...args)),
  }
}

/**
 * Writes to a removed or replaced file fail for good. Checked after the commit, before its report.
 */
export function guardWrites(index: OrderIndex, file: string, isSame: IsSameFile): OrderIndex {
  return mapTransactions(index, (transaction) => ({
    ...transaction,
    async commit(writes, mode) {
      const isCommitted = await transaction.commit(writes, mode)
      if (!isSame()) throw new Error(replacedMessage(file))
      return isCommitted
    },
  }))
}
