import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { WatchRunningError, type WriterPurpose } from '../../../indexing/writer/order-index.ts'
import { createPrivateFile } from '../database/private-file.ts'

export interface WriterLockOptions {
  purpose: WriterPurpose
  /** Told which writer is waited for. */
  onDelay(reason: string): void
  /** Ends the waiting. */
  signal?: AbortSignal | undefined
}

const POLL_MS = 100

/**
 * Waits until no other process writes the same data, and keeps others out until it is released: by the
 * holder, or by the system when its process ends, however that comes. The file has nothing in it.
 *
 * A watch holds the exclusive lock of the file, a load only the reserved one. The reserved lock admits readers,
 * so a process that can read the file knows that a load holds it.
 * @throws WatchAtWork for a load beside a watch; Error when `signal` ends the waiting
 */
export async function acquireWriterLock(
  file: string,
  { purpose, onDelay, signal }: WriterLockOptions,
): Promise<{ release(): void }> {
  createPrivateFile(file)
  const db = new DatabaseSync(file, { timeout: 0 })
  const begin = purpose === 'watch' ? 'BEGIN EXCLUSIVE' : 'BEGIN IMMEDIATE'
  try {
    let isReported = false
    while (!tryExec(db, begin)) {
      const isLoad = tryExec(db, PROBE)
      if (!isLoad && purpose === 'load') throw new WatchRunningError()
      const holder = isLoad ? 'index load' : 'index watch'
      if (!isReported) onDelay(`waiting for another "${holder}" on the same DATA_DIR to end`)
      isReported = true
      await pause(POLL_MS, undefined, { signal }).catch(throwInterrupted)
    }
    return { release: () => db.close() }
  } catch (error) {
    db.close()
    throw error
  }
}

const PROBE = 'SELECT 1 FROM sqlite_schema'
const SQLITE_BUSY = 5

/** Whether it can be done at once. */
function tryExec(db: DatabaseSync, sql: string): boolean {
  try {
    db.exec(sql)
    return true
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    return false
  }
}

function throwInterrupted(cause: unknown): never {
  throw new Error('interrupted while another writer was at work', { cause })
}
