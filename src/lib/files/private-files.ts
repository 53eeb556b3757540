import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

/** Creates a folder and its parents, private to the owner and durable after a power failure. */
export function createFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let created = path; ; created = dirname(created)) {
    syncFolder(dirname(created)) // The parent holds the entry of a folder.
    if (created === first || created === dirname(created)) return
  }
}

/** Flushes the entries of a folder to the disk after files were created, linked or renamed. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return // Windows cannot open folders.
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } catch (error) {
    // Some network file systems cannot sync folders. SQLite ignores this error too.
    if (!NOT_SUPPORTED.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    closeSync(folder)
  }
}

const NOT_SUPPORTED = ['EINVAL', 'ENOTSUP']

const ALREADY_THERE = 'EEXIST'

/**
 * Creates an empty file with mode 0600 if it is missing. An existing file is not opened, because
 * closing it would release every lock that this process has on it.
 */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== ALREADY_THERE) throw error
  }
}
