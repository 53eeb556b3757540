import { DatabaseSync } from 'node:sqlite'

/** A map whose entries may exceed memory. A call throws Error when the disk is full. */
export interface DiskMap<V> {
  get(key: string): V | undefined
  /** `value`: as JSON can represent it. */
  set(key: string, value: V): void
  size(): number
  /** In the order in which the keys were added. Entries must not change meanwhile. */
  values(): Iterable<V>
  /** Ends the map. Its file has no name, so it disappears also when the process is killed. */
  close(): void
}

const MEMORY_KIB = 64 * 1024

/**
 * Creates an empty map. Beyond `memoryKib` its entries are in a file in the temporary folder of
 * SQLite: `SQLITE_TMPDIR`, else `TMPDIR`.
 */
export function createDiskMap<V>(memoryKib = MEMORY_KIB): DiskMap<V> {
  // Without a path SQLite uses a file that disappears on close.
  const db = new DatabaseSync('')
  // One transaction: a commit costs as much as there are changed pages in memory.
  db.exec(`PRAGMA cache_size = -${memoryKib}; BEGIN;
    CREATE TABLE entries (position INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL)`)
  const select = db.prepare('SELECT value FROM entries WHERE key = ?')
  const upsert = db.prepare(`INSERT INTO entries (key, value) VALUES (?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`)
  const count = db.prepare('SELECT count(*) AS count FROM entries')
  const all = db.prepare('SELECT value FROM entries ORDER BY position')
  const parse = ({ value }: Record<string, unknown>): V => JSON.parse(String(value))

  return {
    get(key) {
      const row = withDiskHint(() => select.get(key))
      return row && parse(row)
    },
    set: (key, value) => void withDiskHint(() => upsert.run(key, JSON.stringify(value))),
    size: () => Number(withDiskHint(() => count.get())?.['count']),
    *values() {
      for (const row of all.iterate()) yield parse(row)
    },
    close: () => db.close(),
  }
}

function withDiskHint<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof Error && Object(cause).code === 'ERR_SQLITE_ERROR')) throw cause
    const message = `cannot use a temporary file: ${cause.message}. Set TMPDIR to a folder on a disk with more space`
    throw new Error(message, { cause })
  }
}
