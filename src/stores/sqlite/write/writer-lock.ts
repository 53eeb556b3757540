import { DatabaseSync } from 'node:sqlite'
import type { WriterPurpose } from '../../../indexing/writer/order-index.ts'
import { WatchRunningError } from '../../../indexing/writer/writer-errors.ts'
import { interruptiblePause } from '../../../lib/async/interruptible-pause.ts'
import { createPrivateFile } from '../../../lib/files/private-files.ts'
import { tryExec } from '../database/database.ts'

export interface WriterLockOptions {
  purpose: WriterPurpose
  /** Called with the writer that this one waits for. */
  onDelay(reason: string): void
  /** Ends the wait. */
  signal?: AbortSignal | undefined
}

export const WRITER_POLL_MS = 100

/**
 * Waits until no other process writes the same data, then excludes other writers until the lock is
 * released. The holder releases it, or the operating system when the process ends. The file stays
 * empty.
 *
 * A watch holds the exclusive lock of the file, a load only the reserved one. The reserved lock
 * admits readers, so where a process can read the file, the holder is a load.
 * @throws WatchRunningError for a load during a watch; Error when `signal` aborts the wait
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
      const holder = isLoad ? '"index load", or "serve" for pushed orders,' : '"index watch"'
      if (!isReported) onDelay(`waiting for another ${holder} on the same DATA_DIR to end`)
      isReported = true
      await interruptiblePause(WRITER_POLL_MS, signal, 'another writer was at work')
    }
    return { release: () => db.close() }
  } catch (error) {
    db.close()
    throw error
  }
}

const PROBE = 'SELECT 1 FROM sqlite_schema'
