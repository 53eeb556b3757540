import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Order } from '../../../src/client/client.ts'

/** The orders at a destination by id, read independently of the code of the command. */
export async function readSyncedOrders(destination: string): Promise<Map<string, Order>> {
  const texts = destination.startsWith('sqlite:')
    ? ofDatabase(destination.slice('sqlite:'.length))
    : ofFolder(join(destination, 'orders'))
  const orders = texts.map((text): Order => JSON.parse(text))
  const byId = new Map(orders.map((order) => [order.id, order]))
  if (byId.size !== orders.length) throw new Error('an order is there twice')
  return byId
}

function ofFolder(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
}

function ofDatabase(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return db
      .prepare('SELECT json FROM orders')
      .all()
      .map((row) => String(row['json']))
  } finally {
    db.close()
  }
}
