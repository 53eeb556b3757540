import { join } from 'node:path'
import type { Config } from '../../config.ts'
import type { OrderIndex } from '../../indexing/writing/order-index.ts'
import { type Clock, wallClock } from '../../lib/clock.ts'
import type { Stores } from '../stores.ts'
import { openDatabase } from './database.ts'
import { createSqliteInspection } from './inspection.ts'
import { createSqliteKeyStore } from './key-store.ts'
import { keysMigrations } from './keys-schema.ts'
import { createSqliteOrderIndex } from './order-index.ts'
import { createSqliteOrderStore } from './order-store.ts'
import { ordersMigrations } from './orders-schema.ts'
import { forgetClock } from './stamps.ts'
import { holdWriterLock } from './writer-lock.ts'

/** How long a command waits for the write of another process. */
const COMMAND_BUSY_MS = 30_000
/** The server's one write is a note of a key's use; the whole process would wait with it. */
const SERVER_BUSY_MS = 20

/**
 * The embedded stores. Keys and orders are two files: a load of orders holds the write lock of its file,
 * and noting a key's use must not wait for it.
 */
export function openSqliteStores(
  { dataDir }: Pick<Config, 'dataDir'>,
  role: 'server' | 'command',
): Stores {
  const openOrders = () =>
    openDatabase(join(dataDir, 'orders.db'), ordersMigrations, COMMAND_BUSY_MS)
  function openWriter(clock: Clock): OrderIndex {
    const db = openOrders()
    try {
      return createSqliteOrderIndex(db, clock)
    } catch (error) {
      db.close()
      throw error
    }
  }
  const orders = openOrders()
  const keys = openDatabase(
    join(dataDir, 'keys.db'),
    keysMigrations,
    role === 'server' ? SERVER_BUSY_MS : COMMAND_BUSY_MS,
  )
  return {
    orders: createSqliteOrderStore(orders),
    keys: createSqliteKeyStore(keys),
    async openIndex({ clock = wallClock, purpose = 'load', onDelay = () => {}, signal } = {}) {
      const lock = await holdWriterLock(join(dataDir, 'watch.lock'), { purpose, onDelay, signal })
      try {
        const index = openWriter(clock)
        return { ...index, close: () => index.close().finally(() => lock.release()) }
      } catch (error) {
        lock.release()
        throw error
      }
    },
    inspection: createSqliteInspection(orders),
    reindexing: null,
    async prepare() {}, // Opening made it.
    trustClock: () => forgetClock(orders),
    async close() {
      orders.close()
      keys.close()
    },
  }
}
