import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Lock, takeLock } from '../lock.ts'
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
  // By its own name: through a link it would have another lock.
  const path = await realpath(file).catch(() => resolve(file))
  const lock = await takeLock(`${path}.lock-`, busyCopy(file))
  try {
    return copyIn(await openDatabase(path), lock)
  } catch (error) {
    await lock.release()
    throw error
  }
}

function copyIn(db: DatabaseSync, lock: Lock): LocalCopy {
  const readState = db.prepare('SELECT json FROM sync_state')
  const readOrder = db.prepare('SELECT json FROM orders WHERE id = ?')
  const upsert = db.prepare(UPSERT)
  const keepState = db.prepare(KEEP_STATE)
  const drop = db.prepare('DELETE FROM orders WHERE seen_in < ?')
  const count = db.prepare(
    'SELECT count(*) AS total, coalesce(sum(seen_in < ?), 0) AS unseen FROM orders',
  )
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
        rollBack(db)
        throw error
      }
      changes += changed
    },

    async dropUnseen(pass) {
      return Number(drop.run(pass).changes)
    },

    async countUnseen(pass) {
      const row = count.get(pass)
      return { unseen: Number(row?.['unseen']), total: Number(row?.['total']) }
    },

    async close() {
      db.close()
      await lock.release()
    },
  }
}

/** On a full disk SQLite has rolled back by itself, and then there is nothing to; not every Node 22 can be asked. */
function rollBack(db: DatabaseSync): void {
  try {
    db.exec('ROLLBACK')
  } catch {}
}
