import { UsageFault } from '../faults.ts'
import { openFolderCopy } from './folder.ts'
import type { LocalCopy } from './local-copy.ts'
import { openSqliteCopy } from './sqlite.ts'

const SQLITE = 'sqlite:'
const DATABASE_NAME = /\.(db|sqlite3?)$/i

/**
 * Opens the copy that a destination names, or begins one there.
 * @throws UsageFault for what names none; Failure where something else is there, or somebody is at work on it
 */
export async function openCopy(destination: string): Promise<LocalCopy> {
  if (!destination.startsWith(SQLITE)) {
    if (!DATABASE_NAME.test(destination)) return await openFolderCopy(destination)
    throw new UsageFault(
      `Para um banco SQLite escreva sqlite:${destination}. Para uma pasta, dê outro nome a ela.`,
      'sync',
    )
  }
  const file = destination.slice(SQLITE.length)
  if (file === '') throw new UsageFault('Falta o arquivo depois de sqlite:.', 'sync')
  return await openSqliteCopy(file)
}
