import type { OrderIndex } from '../../../indexing/writer/order-index.ts'
import { Unavailable } from '../../../lib/unavailable.ts'

export const SQLITE_BUSY = 5
const SQLITE_IOERR = 10
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14
const SQLITE_PROTOCOL = 15
const TEMPORARY = [SQLITE_BUSY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN, SQLITE_PROTOCOL]

/** The low byte of an extended result code is the primary one. */
const PRIMARY_CODE = 0xff

/** The error of a call that failed, as Unavailable when the failure is temporary. */
export function toUnavailable(file: string, error: unknown): unknown {
  return isTemporary(error) ? new Unavailable(`${file}: ${error.message}`, { cause: error }) : error
}

function isTemporary(error: unknown): error is Error {
  const { errcode } = error as { errcode?: number }
  return errcode !== undefined && TEMPORARY.includes(errcode & PRIMARY_CODE)
}

/** Runs `work`, whose temporary failures throw Unavailable. */
async function guardCall<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toUnavailable(file, error)
  }
}

/** Temporary failures of a write throw Unavailable; a command ends with the error instead. */
export function guardTemporary(index: OrderIndex, file: string): OrderIndex {
  return {
    ...index,
    async lock(orderIds) {
      const lock = await index.lock(orderIds)
      return {
        ...lock,
        async begin() {
          const transaction = await guardCall(file, lock.begin)
          const { commit } = transaction
          return {
            ...transaction,
            commit: (writes, mode) => guardCall(file, () => commit(writes, mode)),
          }
        },
      }
    },
  }
}
