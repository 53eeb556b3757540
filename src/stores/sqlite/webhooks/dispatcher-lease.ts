import { hostname } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { interruptiblePause } from '../../../lib/async/interruptible-pause.ts'
import { trackFileIdentity } from '../../../lib/files/file-identity.ts'
import { createPrivateFile } from '../../../lib/files/private-files.ts'
import type { DispatcherLease, WebhookStores } from '../../../webhooks/webhook-stores.ts'
import { tryExec } from '../database/database.ts'
import { toUnavailable } from '../database/failures.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'

const POLL_MS = 100
/** A reader of the status holds the lock for an instant, which is no delay to report. */
const FAILURES_BEFORE_REPORT = 2

/**
 * The lease is the exclusive lock of a file, which the operating system releases when the process
 * ends. The name of the holder is in `webhooks.db`, because a locked file cannot be read.
 */
export function createSqliteDispatcherLease(
  file: string,
  db: GuardedDatabase,
): Pick<WebhookStores, 'acquireLease' | 'dispatcher'> {
  const selectHolder = db.prepare('SELECT holder FROM dispatcher')
  const writeHolder = db.prepare('INSERT OR REPLACE INTO dispatcher VALUES (1, ?)')

  const readHolder = () => db.run(() => selectHolder.get()?.['holder'] as string | undefined)

  function openLock(): DatabaseSync {
    return guard(() => {
      createPrivateFile(file)
      return new DatabaseSync(file, { timeout: 0 })
    })
  }

  /** @throws Unavailable naming the lock file, for instance on a full disk */
  function guard<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw toUnavailable(file, error)
    }
  }

  const tryLock = (lock: DatabaseSync, sql: string) => guard(() => tryExec(lock, sql))

  return {
    async acquireLease({ onDelay, signal }) {
      const lock = openLock()
      try {
        // Before the wait, so that it is not the identity of a file that replaces this one
        // meanwhile.
        const isSameFile = trackFileIdentity(file)
        for (let failures = 1; !tryLock(lock, 'BEGIN EXCLUSIVE'); failures += 1) {
          if (failures === FAILURES_BEFORE_REPORT) {
            onDelay(`waiting for another process that delivers webhooks (${readHolder()}) to end`)
          }
          await interruptiblePause(POLL_MS, signal, 'another process was delivering webhooks')
        }
        db.write(() => writeHolder.run(`${hostname()} ${process.pid}`))
        return holdLock(lock, isSameFile)
      } catch (error) {
        lock.close()
        throw error
      }
    },
    async dispatcher() {
      const holder = readHolder()
      if (holder === undefined) return null
      const lock = openLock()
      try {
        return { holder, alive: !tryLock(lock, 'SELECT 1 FROM sqlite_schema') }
      } finally {
        lock.close()
      }
    },
  }
}

/** The lease of a locked file. */
function holdLock(lock: DatabaseSync, isSameFile: () => boolean): DispatcherLease {
  return {
    isHeld() {
      try {
        // A process that finds the file missing creates another one, and locks that.
        return lock.isOpen && isSameFile()
      } catch {
        return false // The system cannot tell: a folder without permission, or a failing disk.
      }
    },
    async release() {
      if (lock.isOpen) lock.close()
    },
  }
}
