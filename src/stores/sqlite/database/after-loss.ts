import { existsSync, rmSync, statSync } from 'node:fs'
import { type IndexRecovery, NOTHING_LOST } from '../../index-lost.ts'
import { DatabaseMissingError } from './database.ts'
import { keysFile, openOrdersDatabase, ordersFile } from './database-files.ts'

/**
 * Creates an empty database in place of the lost one of the orders; keys and accounts stay.
 * @throws Error where nothing is lost
 */
export function beginSqliteAfterLoss(dataDir: string): IndexRecovery {
  const file = ordersFile(dataDir)
  if (!existsSync(keysFile(dataDir))) {
    throw new Error(`${NOTHING_LOST}: there is no database yet: run "index init", which creates it`)
  }
  if (hasOrders(dataDir)) throw new Error(`${NOTHING_LOST}: ${file} is there`)
  // SQLite discards the log of an empty database. But a process with the lost file open shares the
  // memory map of its log with the next process that opens that name.
  const isEmpty = !existsSync(file) || statSync(file).size === 0
  for (const suffix of isEmpty ? ['-wal', '-shm'] : []) rmSync(`${file}${suffix}`, { force: true })
  openOrdersDatabase(dataDir, { createIfMissing: true }).close()
  return { created: file, unused: [] }
}

function hasOrders(dataDir: string): boolean {
  try {
    openOrdersDatabase(dataDir, { createIfMissing: false }).close()
    return true
  } catch (error) {
    if (error instanceof DatabaseMissingError) return false
    throw error
  }
}
