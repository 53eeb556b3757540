import { join } from 'node:path'
import type { KeyStore } from '../../src/auth/key-store.ts'
import type { OrderIndex } from '../../src/indexing/order-index.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { OrderStore } from '../../src/orders/order-store.ts'
import { openDatabase } from '../../src/stores/sqlite/database.ts'
import { createSqliteKeyStore } from '../../src/stores/sqlite/key-store.ts'
import { keysMigrations } from '../../src/stores/sqlite/keys-schema.ts'
import { createSqliteOrderIndex } from '../../src/stores/sqlite/order-index.ts'
import { createSqliteOrderStore } from '../../src/stores/sqlite/order-store.ts'
import { ordersMigrations } from '../../src/stores/sqlite/orders-schema.ts'
import { temporaryFolder } from '../support/services.ts'

/** An empty store under test: its read side, and as many write sides as a test wants. */
export interface StoreUnderTest {
  orders: OrderStore
  /** The write side as another process has it, with a clock of its own. */
  openIndex(clock: Clock): Promise<OrderIndex>
  /** Leaves a document as a shape without this field would have written it. */
  age(accountId: string, orderId: string, field: string): Promise<void>
  close(): Promise<void>
}

/** An empty store of keys under test. */
export interface KeyStoreUnderTest {
  keys: KeyStore
  close(): Promise<void>
}

/** Every implementation of the ports; the same tests run over each. */
export const stores: [name: string, open: () => Promise<StoreUnderTest>][] = [
  ['SQLite', openSqlite],
]

export const keyStores: [name: string, open: () => Promise<KeyStoreUnderTest>][] = [
  ['SQLite', openSqliteKeys],
]

async function openSqlite(): Promise<StoreUnderTest> {
  const { folder, remove } = temporaryFolder()
  const open = () => openDatabase(join(folder, 'orders.db'), ordersMigrations, 5_000)
  const reading = open()
  const indexes: OrderIndex[] = []

  return {
    orders: createSqliteOrderStore(reading),
    async openIndex(clock) {
      const index = createSqliteOrderIndex(open(), clock)
      indexes.push(index)
      return index
    },
    async age(accountId, orderId, field) {
      reading
        .prepare(
          'UPDATE orders SET shape = shape - 1, json = CAST(json_remove(CAST(json AS TEXT), ?) AS BLOB) WHERE account_id = ? AND id = ?',
        )
        .run(`$.${field}`, accountId, orderId)
    },
    async close() {
      await Promise.all(indexes.map((index) => index.close()))
      reading.close()
      remove()
    },
  }
}

async function openSqliteKeys(): Promise<KeyStoreUnderTest> {
  const { folder, remove } = temporaryFolder()
  const db = openDatabase(join(folder, 'keys.db'), keysMigrations, 5_000)
  return {
    keys: createSqliteKeyStore(db),
    async close() {
      db.close()
      remove()
    },
  }
}
