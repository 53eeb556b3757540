import { mapTransactions, type OrderIndex } from '../../../indexing/writer/order-index.ts'
import { errorText } from '../../../lib/errors/error-text.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { trackFileIdentity } from '../../../lib/files/file-identity.ts'
import type { OrderStore } from '../../../orders/order-store.ts'
import { isDamage, toNamedError, toUnavailable } from './failures.ts'

/** The error of a call after it. */
const replacedMessage = (file: string) =>
  `${file} was removed or replaced while this process had it open: start the process again`

/** The same while the system cannot check: a folder without permission, or a failing disk. */
const unknownMessage = (file: string, error: unknown) =>
  `cannot read the identity of ${file}: ${errorText(error)}. Check DATA_DIR and its disk`

/**
 * The state of a file that this process has open, for all its connections. Once damage was found,
 * every later call throws. A read of an undamaged part could return an incomplete list, or hide the
 * damage from the readiness. A write to it would be moved away by the recovery.
 */
export function trackFile(file: string) {
  const isSame = trackFileIdentity(file)
  let damage: unknown

  /** Why no result of the open file may be used. */
  function lossOf(): string | undefined {
    try {
      return isSame() ? undefined : replacedMessage(file)
    } catch (error) {
      return unknownMessage(file, error)
    }
  }

  return {
    /** Before a call. @throws Unavailable once the file was found damaged */
    assertIntact(): void {
      if (damage) throw damage
    },
    /** After a call. @throws Unavailable once the file was removed or replaced, or may have been */
    assertSame(): void {
      const loss = lossOf()
      if (loss !== undefined) throw new Unavailable(loss)
    },
    /** The error of a failed call, as Unavailable when the file is the reason. */
    toUnavailable(error: unknown): unknown {
      // A replaced file can look damaged, and must not be moved away.
      const loss = lossOf()
      if (loss !== undefined) return new Unavailable(loss)
      const thrown = toUnavailable(file, error)
      if (isDamage(error)) damage ??= thrown
      return thrown
    },
    /** The same for a command, which ends with the error. */
    toNamedError(error: unknown): unknown {
      const loss = lossOf()
      return loss === undefined ? toNamedError(file, error) : new Error(loss)
    },
  }
}

export type TrackedFile = ReturnType<typeof trackFile>

/** The same calls, checked before and after; `toError` makes the error of one that fails. */
const guardWith =
  (state: TrackedFile, toError: (error: unknown) => unknown) =>
  <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
  async (...args: Args): Promise<T> => {
    try {
      state.assertIntact()
      const result = await call(...args)
      state.assertSame()
      return result
    } catch (error) {
      throw toError(error)
    }
  }

/** Reads of a file that fails, or was removed or replaced, throw Unavailable: a 503 over HTTP. */
export function guardReads(orders: OrderStore, state: TrackedFile): OrderStore {
  const guard = guardWith(state, state.toUnavailable)
  return {
    ...orders,
    findPage: guard(orders.findPage),
    latestWrite: guard(orders.latestWrite),
    get: guard(orders.get),
    getMany: guard(orders.getMany),
  }
}

/**
 * The same index, whose transactions throw what `toError` makes of their errors. A removed or
 * replaced file is recognised after the commit, before its report.
 */
export function guardWrites(
  index: OrderIndex,
  state: TrackedFile,
  toError: (error: unknown) => unknown,
): OrderIndex {
  const guard = guardWith(state, toError)
  const guarded = mapTransactions(index, (transaction) => ({
    ...transaction,
    versionRecords: guard(transaction.versionRecords),
    scan: guard(transaction.scan),
    views: guard(transaction.views),
    commit: guard(transaction.commit),
  }))
  return {
    ...guarded,
    async lock(orderIds) {
      const lock = await guarded.lock(orderIds)
      return { ...lock, begin: guard(lock.begin) }
    },
  }
}
