import { join } from 'node:path'
import { createKeyCache, type KeyCache } from './auth/key-cache.ts'
import type { KeyStore } from './auth/key-store.ts'
import type { Config } from './config.ts'
import type { OrderIndex } from './indexing/order-index.ts'
import { monotonicClock, wallClock } from './lib/clock.ts'
import type { Limiter } from './limits/limiter.ts'
import { createMemoryLimiter } from './limits/memory-limiter.ts'
import { type CursorCodec, createCursorCodec } from './orders/cursor.ts'
import type { OrderStore } from './orders/order-store.ts'
import { loadSecrets } from './secrets.ts'
import { openDatabase } from './stores/sqlite/database.ts'
import { createSqliteKeyStore } from './stores/sqlite/key-store.ts'
import { keysMigrations } from './stores/sqlite/keys-schema.ts'
import { createSqliteOrderIndex } from './stores/sqlite/order-index.ts'
import { createSqliteOrderStore } from './stores/sqlite/order-store.ts'
import { ordersMigrations } from './stores/sqlite/orders-schema.ts'

/** What stands behind the ports, opened. */
export interface Services {
  orders: OrderStore
  orderIndex: OrderIndex
  keys: KeyStore
  keyCache: KeyCache
  limiter: Limiter
  cursors: CursorCodec
  keyPepper: Uint8Array
  close(): Promise<void>
}

/** How long a command waits for the write of another process. */
const COMMAND_BUSY_MS = 30_000
/** The server's one write is a note of a key's use; the whole process would wait with it. */
const SERVER_BUSY_MS = 20

/**
 * Opens the services that the settings name. Keys and orders are two files: a load of orders holds the
 * write lock of its file, and noting a key's use must not wait for it.
 */
export async function openServices(
  config: Config,
  role: 'server' | 'command' = 'command',
): Promise<Services> {
  const secrets = loadSecrets(config)
  const openOrders = () =>
    openDatabase(join(config.dataDir, 'orders.db'), ordersMigrations, COMMAND_BUSY_MS)
  const orders = openOrders()
  const orderIndex = createSqliteOrderIndex(openOrders(), wallClock)
  const keysDb = openDatabase(
    join(config.dataDir, 'keys.db'),
    keysMigrations,
    role === 'server' ? SERVER_BUSY_MS : COMMAND_BUSY_MS,
  )
  const keys = createSqliteKeyStore(keysDb)
  return {
    orders: createSqliteOrderStore(orders),
    orderIndex,
    keys,
    keyCache: createKeyCache(keys, monotonicClock),
    limiter: createMemoryLimiter(config.rateLimit, monotonicClock),
    cursors: createCursorCodec(secrets.cursorSecrets),
    keyPepper: secrets.keyPepper,
    async close() {
      await orderIndex.close()
      orders.close()
      keysDb.close()
    },
  }
}
