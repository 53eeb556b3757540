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
  close(): void
}

/**
 * Opens the services that the settings name. Keys and orders are two files: a load of orders holds the
 * write lock of its file, and noting a key's use must not wait for it.
 */
export function openServices(config: Config): Services {
  const secrets = loadSecrets(config)
  const orders = openDatabase(join(config.dataDir, 'orders.db'), ordersMigrations)
  const keysDb = openDatabase(join(config.dataDir, 'keys.db'), keysMigrations)
  const keys = createSqliteKeyStore(keysDb)
  return {
    orders: createSqliteOrderStore(orders),
    orderIndex: createSqliteOrderIndex(orders, wallClock),
    keys,
    keyCache: createKeyCache(keys, monotonicClock),
    limiter: createMemoryLimiter(config.rateLimit, monotonicClock),
    cursors: createCursorCodec(secrets.cursorSecrets),
    keyPepper: secrets.keyPepper,
    close() {
      orders.close()
      keysDb.close()
    },
  }
}
