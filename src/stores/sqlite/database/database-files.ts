import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { IndexLost, type IndexRecovery, NOTHING_LOST, ORDERS_INDEX } from '../../index-lost.ts'
import { BUSY_MS, DatabaseMissingError, openDatabase } from './database.ts'
import { keysMigrations, ordersMigrations } from './schema.ts'

/** The path of the orders database. */
export const ordersFile = (dataDir: string) => join(dataDir, 'orders.db')
/** The path of the database of keys and accounts. */
export const keysFile = (dataDir: string) => join(dataDir, 'keys.db')

/** @throws DatabaseMissingError unless the file exists or `createIfMissing` is set */
export function openOrdersDatabase(
  dataDir: string,
  { createIfMissing }: { createIfMissing: boolean },
  busyTimeoutMs = BUSY_MS.command,
): DatabaseSync {
  return openDatabase(ordersFile(dataDir), ordersMigrations, busyTimeoutMs, createIfMissing)
}

/**
 * Opens the orders, and creates them if the keys do not exist either. They are created first: keys
 * without orders then always mean a loss, never an interrupted first start.
 * @throws IndexLost
 */
export function openOrdersUnlessLost(dataDir: string, busyTimeoutMs?: number): DatabaseSync {
  const keys = keysFile(dataDir)
  try {
    return openOrdersDatabase(dataDir, { createIfMissing: !existsSync(keys) }, busyTimeoutMs)
  } catch (error) {
    if (!(error instanceof DatabaseMissingError)) throw error
    throw new IndexLost(`${ordersFile(dataDir)} is missing or empty, and ${keys} is not`)
  }
}

/** Opens keys and accounts. Only once the orders are made, or lost. */
export function openKeysDatabase(dataDir: string, busyTimeoutMs = BUSY_MS.command): DatabaseSync {
  return openDatabase(keysFile(dataDir), keysMigrations, busyTimeoutMs)
}

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
  return { created: file, lost: ORDERS_INDEX, unused: [] }
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
