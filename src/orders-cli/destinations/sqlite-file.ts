import { access, constants, open } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { PRIVATE } from '../atomic-file.ts'
import { CommandError } from '../errors.ts'
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from './sqlite-schema.ts'
import { ensureViews } from './sqlite-views.ts'

const MAGIC = 'SQLite format 3\0'
/** How long a write waits for readers with a lock; milliseconds. */
const BUSY_TIMEOUT_MS = 10_000

/**
 * Opens the database of a store, and creates it in a missing or empty file.
 * @throws CommandError for any other file, which stays untouched, and on a Node without SQLite
 */
export async function openDatabase(file: string): Promise<DatabaseSync> {
  const { DatabaseSync: Database } = await import('node:sqlite').catch(() => {
    throw new CommandError(
      `sqlite: precisa do Node 22.13 ou mais novo, e este é o ${process.versions.node}. Atualize o Node, ou sincronize para uma pasta.`,
    )
  })
  if (await hasContent(file)) {
    // Checked before opening: SQLite's auxiliary files inherit the mode of a read-only database and
    // would remain.
    await access(file, constants.R_OK | constants.W_OK).catch(() => {
      throw new CommandError(
        `Sem permissão para escrever em ${file}: mude as permissões, ou escolha outro.`,
      )
    })
    const existing = new Database(file, { readOnly: true })
    try {
      rejectForeign(existing, file)
    } finally {
      existing.close()
    }
  }
  await (await open(file, 'a', PRIVATE)).close() // SQLite's auxiliary files inherit the mode.
  const db = new Database(file, { timeout: BUSY_TIMEOUT_MS })
  try {
    // With WAL, readers and the writer do not block each other. A power loss may lose the last
    // commits, but orders and state together. The PRAGMA repeats the timeout, because Node 22.13
    // has no such option.
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    // Overwrites what is deleted, because erased orders are personal data.
    db.exec('PRAGMA secure_delete = ON')
    if (versionOf(db) === 0) db.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`)
    ensureViews(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Moves the log to the database file and empties it. Returns whether it did: while a reader is in a
 * transaction, it moves only a part, and does not wait.
 */
export function truncateLog(db: DatabaseSync): boolean {
  db.exec('PRAGMA busy_timeout = 0')
  try {
    return db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0
  } finally {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}

/** @throws CommandError for a file that is not a database */
async function hasContent(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (file === null) return false
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0)
    if (bytesRead === 0) return false
    if (buffer.toString('latin1', 0, bytesRead) === MAGIC) return true
  } finally {
    await file.close()
  }
  throw new CommandError(`${path} não é um banco SQLite. Escolha outro nome.`)
}

function rejectForeign(db: DatabaseSync, file: string): void {
  const id = pragma(db, 'application_id')
  const objects = db.prepare('SELECT count(*) AS n FROM sqlite_master').get()?.['n']
  if (id === 0 && objects === 0) return // An earlier creation was interrupted.
  if (id !== APPLICATION_ID) {
    throw new CommandError(`${file} é um banco de outro programa. Escolha outro nome.`)
  }
  if (versionOf(db) > SCHEMA_VERSION) {
    throw new CommandError(
      `${file} é uma cópia de uma versão mais nova deste comando. Atualize o comando, ou escolha outro nome.`,
    )
  }
}

const versionOf = (db: DatabaseSync) => pragma(db, 'user_version')
const pragma = (db: DatabaseSync, name: string) =>
  Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
