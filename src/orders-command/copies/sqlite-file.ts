import { access, constants, open } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { PRIVATE } from '../atomic-file.ts'
import { Failure } from '../faults.ts'
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from './sqlite-schema.ts'

const MAGIC = 'SQLite format 3\0'
/** Long enough for somebody who looks into it, milliseconds. */
const BUSY_MS = 10_000

/**
 * Opens the database of a copy, or makes it where no file is or an empty one.
 * @throws Failure for a file that is something else, which stays as it is, and on a Node without SQLite
 */
export async function openDatabase(file: string): Promise<DatabaseSync> {
  const { DatabaseSync: Database } = await import('node:sqlite').catch(() => {
    throw new Failure(
      `sqlite: precisa do Node 22.13 ou mais novo, e este é o ${process.versions.node}. Atualize o Node, ou sincronize para uma pasta.`,
    )
  })
  if (await hasContent(file)) {
    // Asked before it is opened: what SQLite makes beside a file that is only read gets its mode, and stays.
    await access(file, constants.R_OK | constants.W_OK).catch(() => {
      throw new Failure(
        `Sem permissão para escrever em ${file}: mude as permissões, ou escolha outro.`,
      )
    })
    const looked = new Database(file, { readOnly: true })
    try {
      refuseOthers(looked, file)
    } finally {
      looked.close()
    }
  }
  await (await open(file, 'a', PRIVATE)).close() // What SQLite makes beside it inherits the mode.
  const db = new Database(file, { timeout: BUSY_MS })
  try {
    // Whoever reads does not wait, nor is waited for. A commit may be lost with the power, whole: the state with it.
    // In words as well: the option `timeout` came after Node 22.13.
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    if (versionOf(db) === 0) db.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** @throws Failure for a file that is no database */
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
  throw new Failure(`${path} não é um banco SQLite. Escolha outro nome.`)
}

function refuseOthers(db: DatabaseSync, file: string): void {
  const id = pragma(db, 'application_id')
  const objects = db.prepare('SELECT count(*) AS n FROM sqlite_master').get()?.['n']
  if (id === 0 && objects === 0) return // Its making was cut off.
  if (id !== APPLICATION_ID) {
    throw new Failure(`${file} é um banco de outro programa. Escolha outro nome.`)
  }
  if (versionOf(db) > SCHEMA_VERSION) {
    throw new Failure(
      `${file} é uma cópia de uma versão mais nova deste comando. Atualize o comando, ou escolha outro nome.`,
    )
  }
}

const versionOf = (db: DatabaseSync) => pragma(db, 'user_version')
const pragma = (db: DatabaseSync, name: string) =>
  Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
