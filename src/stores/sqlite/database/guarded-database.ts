import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { Unavailable } from '../../../lib/unavailable.ts'
import { rollBack } from './database.ts'
import { replacedMessage, trackFileIdentity } from './replaced-file-guard.ts'

/**
 * A database whose temporary failures throw Unavailable: a lock that another process holds, a full
 * or failing disk, a file that was removed or replaced.
 */
export interface GuardedDatabase {
  prepare(sql: string): StatementSync
  /** Runs reads, or one statement. */
  run<T>(work: () => T): T
  /** Runs `work` in one write transaction, which an error rolls back. */
  write<T>(work: () => T): T
  close(): void
}

/** `file`: the path of the open database `db`. */
export function guardDatabase(db: DatabaseSync, file: string): GuardedDatabase {
  const isSameFile = trackFileIdentity(file)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')

  function run<T>(work: () => T): T {
    try {
      const result = work()
      if (!isSameFile()) throw new Unavailable(replacedMessage(file))
      return result
    } catch (error) {
      throw toUnavailable(file, error)
    }
  }

  return {
    prepare: (sql) => db.prepare(sql),
    run,
    write: (work) =>
      run(() => {
        begin.run()
        try {
          const result = work()
          commit.run()
          return result
        } catch (error) {
          rollBack(db)
          throw error
        }
      }),
    close: () => db.close(),
  }
}

const SQLITE_BUSY = 5
const SQLITE_IOERR = 10
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14
const SQLITE_PROTOCOL = 15
const TEMPORARY = [SQLITE_BUSY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN, SQLITE_PROTOCOL]

/** The error of a call that failed, as Unavailable when the failure is temporary. */
function toUnavailable(file: string, error: unknown): unknown {
  return isTemporary(error) ? new Unavailable(`${file}: ${error.message}`, { cause: error }) : error
}

type Methods = Record<string, (...args: never[]) => Promise<unknown>>

/** The same methods, whose temporary failures throw Unavailable. */
export function guardMethods<T extends object>(store: T, file: string): T {
  const methods = Object.entries(store as Methods).map(([name, method]) => {
    const guarded = (...args: never[]) => guardCall(file, () => method(...args))
    return [name, guarded]
  })
  return Object.fromEntries(methods) as T
}

/** Runs `work`, whose temporary failures throw Unavailable. */
export async function guardCall<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toUnavailable(file, error)
  }
}

/** The low byte of an extended result code is the primary one. */
const PRIMARY_CODE = 0xff

function isTemporary(error: unknown): error is Error {
  const { errcode } = error as { errcode?: number }
  return errcode !== undefined && TEMPORARY.includes(errcode & PRIMARY_CODE)
}
