import { mapTransactions, type OrderIndex } from '../../../indexing/writer/order-index.ts'
import { type IsSameFile, trackFileIdentity } from '../../../lib/file-identity.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import type { OrderStore } from '../../../orders/order-store.ts'
import { isDamage, toUnavailable } from './failures.ts'

/** The error of a call after it. */
export const replacedMessage = (file: string) =>
  `${file} was removed or replaced while this process had it open: start the process again`

/**
 * The state of a file that this process has open. Once damage was found, every later call throws:
 * an undamaged part could be an incomplete list, and hide the damage from the readiness.
 */
export function trackFile(file: string) {
  const isSame = trackFileIdentity(file)
  let damage: unknown
  return {
    /** Before a call. @throws Unavailable once the file was found damaged */
    assertIntact(): void {
      if (damage) throw damage
    },
    /** After a call. @throws Unavailable once the file was removed or replaced */
    assertSame(): void {
      if (!isSame()) throw new Unavailable(replacedMessage(file))
    },
    /** The error of a failed call, as Unavailable when the file is the reason. */
    toUnavailable(error: unknown): unknown {
      // A replaced file can look damaged, and must not be moved away.
      if (!isSame()) return new Unavailable(replacedMessage(file))
      const thrown = toUnavailable(file, error)
      if (isDamage(error)) damage ??= thrown
      return thrown
    },
  }
}

/** Reads of a file that fails, or was removed or replaced, throw Unavailable: a 503 over HTTP. */
export function guardReads(orders: OrderStore, file: string): OrderStore {
  const state = trackFile(file)
  async function guarded<T>(read: () => Promise<T>): Promise<T> {
    state.assertIntact()
    const result = await read().catch((error: unknown) => {
      throw state.toUnavailable(error)
    })
    state.assertSame()
    return result
  }
  return {
    ...orders,
    findPage: (...args) => guarded(() => orders.findPage(...args)),
    latestWrite: (...args) => guarded(() => orders.latestWrite(...args)),
    get: (...args) => guarded(() => orders.get(...args)),
    getMany: (...args) => guarded(() => orders.getMany(...args)),
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
