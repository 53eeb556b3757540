import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import {
  IndexLost,
  type IndexRecovery,
  KEY_STORE,
  NOTHING_LOST,
  ORDERS_INDEX,
} from '../../index-lost.ts'
import type { OnWarning } from '../../stores.ts'
import { BUSY_MS, DatabaseMissingError, openDatabase } from './database.ts'
import { toNamedError } from './failures.ts'
import { keysMigrations, ordersMigrations } from './schema.ts'

/** The path of the orders database. */
export const ordersFile = (dataDir: string) => join(dataDir, 'orders.db')
/** The path of the database of keys and accounts. */
export const keysFile = (dataDir: string) => join(dataDir, 'keys.db')

/** @throws DatabaseMissingError unless the file exists or `createIfMissing` is set */
export function openOrdersDatabase(
  dataDir: string,
  { createIfMissing, onWarning }: { createIfMissing: boolean; onWarning?: OnWarning | undefined },
  busyTimeoutMs = BUSY_MS.command,
): DatabaseSync {
  const file = ordersFile(dataDir)
  return openDatabase(file, ordersMigrations, busyTimeoutMs, createIfMissing, () =>
    onWarning?.(
      `upgrading ${file} for this release, which takes minutes where there are many orders: an interrupted upgrade starts again from the beginning`,
    ),
  )
}

/**
 * Opens the orders, and creates them if the keys do not exist either. They are created first: keys
 * without orders then always mean a loss, never an interrupted first start.
 * @throws IndexLost
 */
export function openOrdersUnlessLost(
  dataDir: string,
  busyTimeoutMs?: number,
  onWarning?: OnWarning,
): DatabaseSync {
  const keys = keysFile(dataDir)
  const createIfMissing = !existsSync(keys)
  try {
    return openOrdersDatabase(dataDir, { createIfMissing, onWarning }, busyTimeoutMs)
  } catch (error) {
    if (!(error instanceof DatabaseMissingError)) throw error
    throw new IndexLost(`${ordersFile(dataDir)} is missing or empty, and ${keys} is not`)
  }
}

/**
 * Opens keys and accounts, and creates them where nothing was ever written. A writer opens them
 * before its first write, so a version record beside no keys always means a loss. `orders`: the
 * open database of the orders; without it, this opens and closes one where needed.
 * @throws IndexLost when they are lost, or both are missing and the orders are
 */
export function openKeysUnlessLost(
  dataDir: string,
  { orders, busyTimeoutMs = BUSY_MS.command }: OpenKeysOptions = {},
): DatabaseSync {
  const open = (createIfMissing: boolean) =>
    openKeysDatabase(dataDir, busyTimeoutMs, createIfMissing)
  const existing = unlessMissing(() => open(false))
  if (existing !== null) return existing
  const read = orders ?? openOrdersUnlessLost(dataDir)
  const isUsed = hasVersionRecords(read)
  if (read !== orders) read.close()
  // Another process may have created the keys meanwhile, and then written.
  const opened = unlessMissing(() => open(!isUsed))
  if (opened !== null) return opened
  throw new IndexLost(
    `${keysFile(dataDir)} is missing or empty, and ${ordersFile(dataDir)} has orders`,
    '',
    KEY_STORE,
  )
}

export interface OpenKeysOptions {
  orders?: DatabaseSync
  busyTimeoutMs?: number | undefined
}

function openKeysDatabase(
  dataDir: string,
  busyTimeoutMs: number,
  createIfMissing: boolean,
): DatabaseSync {
  return openDatabase(keysFile(dataDir), keysMigrations, busyTimeoutMs, createIfMissing)
}

/** Those of erased orders too. */
function hasVersionRecords(orders: DatabaseSync): boolean {
  try {
    return orders.prepare('SELECT 1 FROM order_heads LIMIT 1').get() !== undefined
  } catch (error) {
    throw toNamedError(orders.location() ?? 'in memory', error)
  }
}

/**
 * Creates an empty database in place of a lost one: that of the orders, or that of keys and
 * accounts once the orders exist. The other one stays.
 * @throws Error where nothing is lost
 */
export function beginSqliteAfterLoss(dataDir: string): IndexRecovery {
  const orders = unlessMissing(() => openOrdersDatabase(dataDir, { createIfMissing: false }))
  if (orders === null) return recreateOrders(dataDir)
  const isUsed = hasVersionRecords(orders)
  orders.close()
  const keys = unlessMissing(() => openKeysDatabase(dataDir, BUSY_MS.command, false))
  keys?.close()
  if (keys !== null || !isUsed) {
    throw new Error(
      `${NOTHING_LOST}: ${ordersFile(dataDir)} is there. If it is damaged, move it and its -wal and -shm away first`,
    )
  }
  const file = keysFile(dataDir)
  removeStaleLog(file)
  openKeysDatabase(dataDir, BUSY_MS.command, true).close()
  return { created: file, lost: KEY_STORE, unused: [] }
}

function recreateOrders(dataDir: string): IndexRecovery {
  if (!existsSync(keysFile(dataDir))) {
    throw new Error(`${NOTHING_LOST}: there is no database yet: run "index init", which creates it`)
  }
  const file = ordersFile(dataDir)
  removeStaleLog(file)
  openOrdersDatabase(dataDir, { createIfMissing: true }).close()
  return { created: file, lost: ORDERS_INDEX, unused: [] }
}

/**
 * SQLite discards the log of an empty database. But a process with the lost file open shares the
 * memory map of its log with the next process that opens that name.
 */
function removeStaleLog(file: string): void {
  if (!isMissingOrEmpty(file)) return
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
}

/** SQLite creates a database in either case. */
export const isMissingOrEmpty = (file: string): boolean =>
  (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0

function unlessMissing(open: () => DatabaseSync): DatabaseSync | null {
  try {
    return open()
  } catch (error) {
    if (error instanceof DatabaseMissingError) return null
    throw error
  }
}
