import { realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { trackFileIdentity } from '../../lib/files/file-identity.ts'
import { replaceLoneSurrogates } from '../../lib/text/json.ts'
import { CommandError } from '../errors.ts'
import { followLink } from '../follow-link.ts'
import type { Waiting } from '../lock/foreign-lock.ts'
import { acquireLock, type Lock } from '../lock/lock.ts'
import { busyMessage, type LocalStore } from './local-store.ts'
import { openDatabase, truncateLog } from './sqlite-file.ts'

const UPSERT = `INSERT INTO orders (id, json, seen_in) VALUES (?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET json = excluded.json, seen_in = excluded.seen_in`
const SAVE_STATE = `INSERT INTO sync_state (only_one, json) VALUES (1, ?)
  ON CONFLICT (only_one) DO UPDATE SET json = excluded.json`

/**
 * A store in an SQLite database, where a page and its state are one transaction. `file`: absolute;
 * `name`: the file as typed, for messages. Its methods throw a CommandError once the file is
 * deleted or replaced.
 * @throws CommandError if the file is something else, or another process holds the lock
 */
export async function openSqliteStore(
  file: string,
  name = file,
  waiting: Waiting = {},
): Promise<LocalStore> {
  // The real path, because the name of a link would be another lock, also before the file exists.
  const path = await realpath(file).catch(() => followLink(file, dirname(file)))
  const lock = await acquireLock(`${path}.lock-`, busyMessage(name), waiting)
  try {
    const db = await openDatabase(path)
    return storeIn(db, { lock, name, path })
  } catch (error) {
    await lock.release()
    throw error
  }
}

function storeIn(
  db: DatabaseSync,
  { lock, name, path }: { lock: Lock; name: string; path: string },
): LocalStore {
  const isSameFile = trackFileIdentity(path)
  const readState = db.prepare('SELECT json FROM sync_state')
  const readOrder = db.prepare('SELECT json FROM orders WHERE id = ?')
  const upsert = db.prepare(UPSERT)
  const saveState = db.prepare(SAVE_STATE)
  const remove = db.prepare('DELETE FROM orders WHERE seen_in < ?')
  const count = db.prepare(
    'SELECT count(*) AS total, coalesce(sum(seen_in < ?), 0) AS unseen FROM orders',
  )
  let changes = 0
  /**
   * Whether the log may have the pages of before a deletion; at first, one by an earlier process.
   */
  let isLogStale = true

  /** SQLite keeps using a deleted file. Called before a read of the state, and after writes. */
  function assertSameFile() {
    if (isSameFile()) return
    // SQLite would read the log of the earlier file into the one that has its name now.
    const nextStep = truncateLog(db)
      ? 'sincronize de novo'
      : `feche os programas que leem o banco, apague ${path}-wal, que é do arquivo anterior (se moveu o banco, mova-o junto), e sincronize de novo`
    throw new CommandError(
      `${name} foi apagado, movido ou trocado durante a sincronização: ${nextStep}.`,
    )
  }

  /** A reader in a transaction prevents it until a later call. */
  function cleanLog() {
    if (isLogStale) isLogStale = !truncateLog(db)
  }

  return {
    changes: () => changes,

    async read() {
      await lock.assertHeld() // First, because it names a folder that was moved with the file.
      assertSameFile()
      const json = readState.get()?.['json']
      return typeof json === 'string' ? JSON.parse(json) : null
    },

    async save(orders, state) {
      await lock.assertHeld()
      let changed = 0
      db.exec('BEGIN IMMEDIATE')
      try {
        for (const order of orders) {
          // SQLite would decode half of an emoji, which an earlier release may have stored, into
          // bytes that are not UTF-8.
          const json = replaceLoneSurrogates(JSON.stringify(order))
          if (readOrder.get(order.id)?.['json'] !== json) changed++
          upsert.run(order.id, json, state.pass.number)
        }
        saveState.run(JSON.stringify(state))
        db.exec('COMMIT')
      } catch (error) {
        rollBack(db)
        throw error
      }
      cleanLog()
      assertSameFile()
      changes += changed
    },

    async deleteUnseen(run) {
      await lock.assertHeld()
      const deleted = Number(remove.run(run).changes)
      if (deleted > 0) isLogStale = true
      cleanLog()
      assertSameFile()
      return deleted
    },

    async countUnseen(run) {
      const row = count.get(run)
      return { unseen: Number(row?.['unseen']), total: Number(row?.['total']) }
    },

    async close() {
      db.close()
      await lock.release()
    },
  }
}

/** On a full disk SQLite has already rolled back; not every Node 22 reports whether it has. */
function rollBack(db: DatabaseSync): void {
  try {
    db.exec('ROLLBACK')
  } catch {}
}
