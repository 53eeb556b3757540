import { resolve } from 'node:path'
import { takeLock } from '../lock.ts'
import { busyCopy, type LocalCopy } from './local-copy.ts'
import { openDatabase } from './sqlite-file.ts'

const UPSERT = `INSERT INTO orders (id, json, seen_in) VALUES (?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET json = excluded.json, seen_in = excluded.seen_in`
const KEEP_STATE = `INSERT INTO sync_state (only_one, json) VALUES (1, ?)
  ON CONFLICT (only_one) DO UPDATE SET json = excluded.json`

/**
 * A copy as an SQLite database, in which a page and the state behind it are one transaction.
 * @throws Failure where something else is there, or somebody is at work on it
 */
export async function openSqliteCopy(file: string): Promise<LocalCopy> {
  const lock = await takeLock(`${resolve(file)}.lock-`, busyCopy(file))
  const db = await openDatabase(file).catch(async (error) => {
    await lock.release()
    throw error
  })
  const readState = db.prepare('SELECT json FROM sync_state')
  const readOrder = db.prepare('SELECT json FROM orders WHERE id = ?')
  const upsert = db.prepare(UPSERT)
  const keepState = db.prepare(KEEP_STATE)
  const drop = db.prepare('DELETE FROM orders WHERE seen_in < ?')
  let changes = 0

  return {
    changes: () => changes,

    async read() {
      const json = readState.get()?.['json']
      return typeof json === 'string' ? JSON.parse(json) : null
    },

    async save(orders, state) {
      let changed = 0
      db.exec('BEGIN IMMEDIATE')
      try {
        for (const order of orders) {
          const json = JSON.stringify(order)
          if (readOrder.get(order.id)?.['json'] !== json) changed++
          upsert.run(order.id, json, state.pass.number)
        }
        keepState.run(JSON.stringify(state))
        db.exec('COMMIT')
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK') // On a full disk SQLite has rolled back by itself.
        throw error
      }
      changes += changed
    },

    async dropUnseen(pass) {
      return Number(drop.run(pass).changes)
    },

    async close() {
      db.close()
      await lock.release()
    },
  }
}
