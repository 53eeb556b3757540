import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { assertNotUpgraded, rollBack } from './database.ts'
import { type TrackedFile, trackFile } from './file-guard.ts'
import type { Migration } from './schema.ts'

/**
 * A database whose failures throw Unavailable: a lock of another process, or a full or failing
 * disk. So does the use of a file that was removed, replaced, damaged, or upgraded by a newer
 * program.
 */
export interface GuardedDatabase {
  prepare(sql: string): StatementSync
  /** Runs reads. */
  run<T>(work: () => T): T
  /** Runs `work` in one write transaction, which an error rolls back. */
  write<T>(work: () => T): T
  close(): void
}

/**
 * `file`: the path of the open database `db`, which has these migrations. `state`: that of the
 * file, where other connections of this process share it.
 */
export function guardDatabase(
  db: DatabaseSync,
  file: string,
  migrations: readonly Migration[],
  state: TrackedFile = trackFile(file),
): GuardedDatabase {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')

  function run<T>(work: () => T): T {
    state.assertIntact()
    try {
      const result = work()
      state.assertSame()
      return result
    } catch (error) {
      throw state.toUnavailable(error)
    }
  }

  return {
    prepare: (sql) => db.prepare(sql),
    run,
    write: (work) =>
      run(() => {
        begin.run()
        try {
          assertNotUpgraded(db, migrations)
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
