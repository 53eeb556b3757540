import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { trackFileIdentity } from '../../../lib/file-identity.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { isUpgraded, rollBack, upgradedMessage } from './database.ts'
import { replacedMessage } from './replaced-file-guard.ts'
import type { Migration } from './schema.ts'
import { toUnavailable } from './temporary-failures.ts'

/**
 * A database whose temporary failures throw Unavailable: a lock that another process holds, a full
 * or failing disk, a file that was removed or replaced, or upgraded by a newer program.
 */
export interface GuardedDatabase {
  prepare(sql: string): StatementSync
  /** Runs reads, or one statement. */
  run<T>(work: () => T): T
  /** Runs `work` in one write transaction, which an error rolls back. */
  write<T>(work: () => T): T
  close(): void
}

/** `file`: the path of the open database `db`, which has these migrations. */
export function guardDatabase(
  db: DatabaseSync,
  file: string,
  migrations: readonly Migration[],
): GuardedDatabase {
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
          if (isUpgraded(db, migrations)) throw new Unavailable(upgradedMessage(file))
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
