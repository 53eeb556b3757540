import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolderSync } from './sync-folder.ts'

/**
 * Creates a folder and its parents, private to the owner and durable after a power failure.
 * @throws the error of the file system
 */
export function createFolder(path: string): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path && !isFolder(parent)) createFolder(parent)
  try {
    // Not `recursive`: in a file system that creates no folders, such as /proc, that never returns.
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!isFolder(path)) throw error // Otherwise another process created it first.
  }
  syncFolderSync(parent) // It holds the entry of the folder.
}

/** The next step after the error EEXIST of {@link createFolder} for DATA_DIR. */
export const NO_FOLDER_ADVICE =
  "This path is a file, or a link to a folder that does not exist: mount the link's folder, or correct DATA_DIR"

/** Whether the path leads to a folder. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

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
    // A symbolic link to a missing file, which SQLite would create readable for other users.
    if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  }
}
