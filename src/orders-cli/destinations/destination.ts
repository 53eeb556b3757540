import { resolve } from 'node:path'
import { CommandLineError } from '../errors.ts'
import type { Waiting } from '../lock/foreign-lock.ts'
import { openFolderStore } from './folder.ts'
import type { LocalStore } from './local-store.ts'
import { openSqliteStore } from './sqlite.ts'

const SQLITE = 'sqlite:'
/** Two letters or more: one is a drive of Windows. */
const OTHER_SCHEME = /^[a-z][a-z\d+.-]+:/i
const DATABASE_NAME = /\.(db|sqlite3?)$/i

/**
 * Opens the store at a destination, or creates it. Relative paths start at `context.cwd`.
 * @throws UsageError for an invalid destination; CommandError if other files are there, or another
 *   process holds the lock
 */
export async function openDestination(
  destination: string,
  context: Waiting & { cwd: string },
): Promise<LocalStore> {
  const { cwd } = context
  if (!destination.startsWith(SQLITE)) {
    const [scheme] = OTHER_SCHEME.exec(destination) ?? []
    if (scheme !== undefined) {
      throw new CommandLineError(
        `Não existe o destino "${scheme}". Use sqlite:ARQUIVO, ou uma pasta. Se a pasta tem este nome, escreva ./ antes dele.`,
      )
    }
    if (!DATABASE_NAME.test(destination))
      return await openFolderStore(resolve(cwd, destination), context)
    throw new CommandLineError(
      `Para um banco SQLite escreva sqlite:${destination}. Para uma pasta, dê outro nome a ela.`,
    )
  }
  const file = destination.slice(SQLITE.length)
  if (file === '') throw new CommandLineError('Falta o arquivo depois de sqlite:.')
  return await openSqliteStore(resolve(cwd, file), file, context)
}
