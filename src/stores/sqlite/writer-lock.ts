import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'

export interface WatchLockOptions {
  /** Told that another one is waited for. */
  onDelay(reason: string): void
  /** Ends the waiting. */
  signal?: AbortSignal | undefined
}

const POLL_MS = 100

/**
 * Waits until no other process watches the same data, and keeps others out until it is released: by the
 * holder, or by the system when its process ends, however that comes. The file has nothing in it.
 * @throws Error when `signal` ends the waiting
 */
export async function holdWatchLock(
  file: string,
  { onDelay, signal }: WatchLockOptions,
): Promise<{ release(): void }> {
  closeSync(openSync(file, 'a', 0o600))
  const db = new DatabaseSync(file, { timeout: 0 })
  try {
    if (!tryLock(db)) {
      onDelay('waiting for another "index watch" on the same DATA_DIR to end')
      do await pause(POLL_MS, undefined, { signal }).catch(interrupted)
      while (!tryLock(db))
    }
    return { release: () => db.close() }
  } catch (error) {
    db.close()
    throw error
  }
}

const SQLITE_BUSY = 5

function tryLock(db: DatabaseSync): boolean {
  try {
    db.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    return false
  }
}

function interrupted(cause: unknown): never {
  throw new Error('interrupted while another writer was at work', { cause })
}
