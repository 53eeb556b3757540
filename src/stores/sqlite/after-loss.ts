import { existsSync, rmSync, statSync } from 'node:fs'
import { type AfterLoss, NOTHING_LOST } from '../index-lost.ts'
import { DatabaseMissing } from './database.ts'
import { keysFile, openOrders, ordersFile } from './files.ts'

/**
 * Makes a lost database of orders anew, empty; keys and accounts stay.
 * @throws Error where nothing is lost
 */
export function beginSqliteAfterLoss(dataDir: string): AfterLoss {
  const file = ordersFile(dataDir)
  if (!existsSync(keysFile(dataDir))) {
    throw new Error(`${NOTHING_LOST}: there is no database yet, "index init" makes it`)
  }
  if (isThere(dataDir)) throw new Error(`${NOTHING_LOST}: ${file} is there`)
  // SQLite discards a log beside an empty database, but a process that still has the lost file open shares the map
  // of its log with the next process that opens that name.
  const isEmpty = !existsSync(file) || statSync(file).size === 0
  for (const left of isEmpty ? ['-wal', '-shm'] : []) rmSync(`${file}${left}`, { force: true })
  openOrders(dataDir, { mayMake: true }).close()
  return { made: file, unused: [] }
}

function isThere(dataDir: string): boolean {
  try {
    openOrders(dataDir, { mayMake: false }).close()
    return true
  } catch (error) {
    if (error instanceof DatabaseMissing) return false
    throw error
  }
}
