import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createFolder } from '../../../lib/durable-folder.ts'
import { createPrivateFile } from './private-file.ts'

/**
 * Opens a database file, making it and its tables when they are not there. `migrations[n]` brings the
 * file from version n to n + 1, so one that was released is never edited; a file of a later version is
 * refused. `busyTimeoutMs`: how long a write waits for another process's, and with it this whole process.
 * `mayMake`: whether a file that is not there, or has no table yet, is made.
 * @throws DatabaseMissing; Error naming the file
 */
export function openDatabase(
  file: string,
  migrations: readonly string[],
  busyTimeoutMs: number,
  createIfMissing = true,
): DatabaseSync {
  if (!createIfMissing && !existsSync(file)) throw new DatabaseMissingError(file)
  try {
    createFolder(dirname(file))
    createPrivateFile(file) // It holds personal data, and what SQLite makes beside it inherits the mode.
    const db = new DatabaseSync(file, { timeout: busyTimeoutMs })
    if (!createIfMissing) assertTables(db, file)
    // Readers and the writer do not wait for each other. FULL: a commit is on the disk when it returns, since
    // what follows it cannot be taken back: "is revoked" is printed, a change is acknowledged.
    db.exec('PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL')
    migrate(db, migrations)
    return db
  } catch (cause) {
    if (cause instanceof DatabaseMissingError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`cannot open the database ${file}: ${reason}`, { cause })
  }
}

/** A database that had to be there is not. */
export class DatabaseMissingError extends Error {
  constructor(file: string) {
    super(`there is no database ${file}`)
    this.name = 'DatabaseMissing'
  }
}

/** Asked of SQLite and not of the file system: a file that was removed just now was made anew by opening it. */
function assertTables(db: DatabaseSync, file: string): void {
  if (versionOf(db) > 0) return
  db.close()
  throw new DatabaseMissingError(file)
}

/** On a full disk SQLite rolls back by itself; a second `ROLLBACK` would hide the first error. */
export function rollBack(db: DatabaseSync): void {
  if (db.isTransaction) db.exec('ROLLBACK')
}

function migrate(db: DatabaseSync, migrations: readonly string[]): void {
  if (versionOf(db) === migrations.length) return
  db.exec('BEGIN IMMEDIATE')
  try {
    const from = versionOf(db) // Another process may have migrated while this one waited.
    if (from > migrations.length) {
      throw new Error(
        `it has version ${from} and this program knows ${migrations.length}; use a newer program`,
      )
    }
    for (const step of migrations.slice(from)) db.exec(step)
    db.exec(`PRAGMA user_version = ${migrations.length}`)
    db.exec('COMMIT')
  } catch (error) {
    rollBack(db)
    throw error
  }
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
}
