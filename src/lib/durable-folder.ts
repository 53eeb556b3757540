import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes a folder for its owner alone, with those above it, so that it outlives a loss of power. */
export function createFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let created = path; ; created = dirname(created)) {
    syncFolder(dirname(created)) // The entry of a folder is in the one above it.
    if (created === first || created === dirname(created)) return
  }
}

/** Writes the entries of a folder to the disk: what was made, linked or renamed in it. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return // There, folders cannot be opened.
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } catch (error) {
    // Some network file systems sync no folders; SQLite goes on there as well.
    if (!NOT_SUPPORTED.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    closeSync(folder)
  }
}

const NOT_SUPPORTED = ['EINVAL', 'ENOTSUP']
