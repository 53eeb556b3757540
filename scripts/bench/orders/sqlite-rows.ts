import type { SQLInputValue } from 'node:sqlite'
import { openOrdersDatabase } from '../../../src/stores/sqlite/database/database-files.ts'
import { inChunks } from './stores.ts'

type Row = Record<string, SQLInputValue>

/** The rows of one order: its version record, and its documents. */
interface OrderRows {
  head: Row
  documents: Row[]
}

/** The rows of an embedded database, in the order in which they were written. */
export function readOrderRows(dataDir: string): OrderRows[] {
  const db = openOrdersDatabase(dataDir, { createIfMissing: false })
  try {
    const heads = db.prepare('SELECT * FROM order_heads').all() as Row[]
    const orders = new Map(heads.map((head) => [head['id'], { head, documents: [] as Row[] }]))
    const written = new Set<OrderRows>()
    for (const row of db.prepare('SELECT * FROM orders ORDER BY rowid').iterate()) {
      const order = orders.get(row['id'] as string)
      if (order === undefined) throw new Error(`${row['id']} has a document and no version record`)
      order.documents.push(row as Row)
      written.add(order)
    }
    // An order without views has a version record only.
    return [...written, ...[...orders.values()].filter((order) => !written.has(order))]
  } finally {
    db.close()
  }
}

/**
 * Inserts the rows into an empty embedded database of the same schema, `perTransaction` orders in
 * each transaction, with the durability of the service. Returns the seconds that it took.
 */
export function insertOrderRows(
  dataDir: string,
  orders: readonly OrderRows[],
  perTransaction: number,
): number {
  const db = openOrdersDatabase(dataDir, { createIfMissing: true })
  try {
    db.exec('PRAGMA cache_size = -16384') // As the writer of the service has it.
    const insertInto = (table: string, row: Row = {}) => {
      const columns = Object.keys(row)
      const places = columns.map(() => '?').join()
      const statement = db.prepare(`INSERT INTO ${table} (${columns}) VALUES (${places})`)
      return (values: Row) => statement.run(...columns.map((column) => values[column] ?? null))
    }
    const insertHead = insertInto('order_heads', orders[0]?.head)
    const insertDocument = insertInto('orders', orders[0]?.documents[0])
    const startedAt = performance.now()
    for (const chunk of inChunks(orders, perTransaction)) {
      db.exec('BEGIN IMMEDIATE')
      for (const { head, documents } of chunk) {
        for (const document of documents) insertDocument(document)
        insertHead(head)
      }
      db.exec('COMMIT')
    }
    return (performance.now() - startedAt) / 1000
  } finally {
    db.close()
  }
}
