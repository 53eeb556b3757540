import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { errorText } from '../../../lib/errors/error-text.ts'
import { createFolder, createPrivateFile } from '../../../lib/files/private-files.ts'
import type { ProcessRole } from '../../stores.ts'
import { adviceAfter, isBusy, SQLITE_BUSY, SQLITE_SCHEMA } from './failures.ts'
import type { Migration } from './schema.ts'

/**
 * How long a write waits for that of another process. It blocks the event loop of a server, which
 * then returns 503 or repeats the write.
 */
export const BUSY_MS: Readonly<Record<ProcessRole, number>> = { server: 50, command: 30_000 }

/** An upgrade of a large file takes longer than the wait for its lock. */
const BUSY_ADVICE = '. Another process upgrades or writes it: try again once that is complete'

/**
 * Opens a database file and creates missing tables. `migrations[n]` upgrades the file from version
 * n to n + 1, so a released one is never edited; a later version is rejected. `busyTimeoutMs`: how
 * long a later write blocks this process while another one writes; the opening waits as long as a
 * command. `createIfMissing`: whether to create a missing or empty file. `onUpgrade` is called
 * before the file of an earlier release is upgraded.
 * @throws DatabaseMissingError; Error naming the file
 */
export function openDatabase(
  file: string,
  migrations: readonly Migration[],
  busyTimeoutMs: number,
  createIfMissing = true,
  onUpgrade = () => {},
): DatabaseSync {
  if (!createIfMissing && !existsSync(file)) throw new DatabaseMissingError(file)
  try {
    createFolder(dirname(file))
    createPrivateFile(file) // It holds personal data; SQLite's log files inherit the mode.
    // Processes that start at the same time create and migrate in turn.
    const db = new DatabaseSync(file, { timeout: BUSY_MS.command })
    if (!createIfMissing) assertTables(db, file)
    // FULL: a commit is durable when it returns, since its consequences cannot be undone, such as
    // an acknowledged change or a confirmed revocation.
    db.exec('PRAGMA synchronous = FULL')
    enableWal(db)
    migrate(db, migrations, onUpgrade)
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    return db
  } catch (cause) {
    if (cause instanceof DatabaseMissingError) throw cause
    const reason = errorText(cause)
    const advice = isBusy(cause) ? BUSY_ADVICE : adviceAfter(file, cause)
    throw new Error(`cannot open the database ${file}: ${reason}${advice}`, { cause })
  }
}

/**
 * Readers and the writer then do not block each other. SQLite waits for no lock to switch the mode,
 * so an empty transaction waits instead.
 */
function enableWal(db: DatabaseSync): void {
  while (!tryExec(db, 'PRAGMA journal_mode = WAL')) db.exec('BEGIN EXCLUSIVE; COMMIT')
}

/** A database that had to be there is not. */
export class DatabaseMissingError extends Error {
  constructor(file: string) {
    super(`there is no database ${file}`)
    this.name = 'DatabaseMissingError'
  }
}

/** Queries SQLite instead of the file system, because opening a removed file creates it again. */
function assertTables(db: DatabaseSync, file: string): void {
  if (versionOf(db) > 0) return
  db.close()
  throw new DatabaseMissingError(file)
}

/** Whether the statement succeeds without a wait. */
export function tryExec(db: DatabaseSync, sql: string): boolean {
  try {
    db.exec(sql)
    return true
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    return false
  }
}

/** On a full disk SQLite rolls back by itself; a second `ROLLBACK` would hide the first error. */
export function rollBack(db: DatabaseSync): void {
  if (db.isTransaction) db.exec('ROLLBACK')
}

function migrate(db: DatabaseSync, migrations: readonly Migration[], onUpgrade: () => void): void {
  if (versionOf(db) === migrations.length) return
  db.exec('BEGIN IMMEDIATE')
  try {
    const from = versionOf(db) // Another process may have migrated during the wait.
    if (from > migrations.length) {
      throw new NewerSchemaError(
        `it has version ${from} and this program supports up to ${migrations.length}; use a newer program, or restore the backup from before the update`,
      )
    }
    if (from > 0) onUpgrade()
    applyMigrations(db, migrations.slice(from))
    db.exec(`PRAGMA user_version = ${migrations.length}`)
    db.exec('COMMIT')
  } catch (error) {
    rollBack(db)
    throw error
  }
}

/** A newer program migrated the file. `errcode`: of SQLite, whose statements failed otherwise. */
class NewerSchemaError extends Error {
  readonly errcode = SQLITE_SCHEMA
}

/**
 * Ensures that no newer program migrated the file since this one opened it: writes of this one
 * would leave new columns empty or stale. In a write transaction, that stays true to its end.
 * @throws Error without the file
 */
export function assertNotUpgraded(db: DatabaseSync, migrations: readonly Migration[]): void {
  if (versionOf(db) === migrations.length) return
  throw new NewerSchemaError(
    'it was upgraded by a newer program while this process had it open: start the process again with that program',
  )
}

/** Applies each step; without a transaction of its own. */
export function applyMigrations(db: DatabaseSync, steps: readonly Migration[]): void {
  for (const step of steps) {
    if (typeof step === 'string') db.exec(step)
    else step(db)
  }
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
}
