import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'

/**
 * Flushes the entries of a folder to the disk after files were created, renamed or removed, so that
 * they survive a power failure. Does nothing where the file system has no such operation. The disk
 * overlaps concurrent calls.
 */
export async function syncFolder(path: string): Promise<void> {
  if (IS_WINDOWS) return
  try {
    const folder = await open(path, 'r')
    await folder.sync().finally(() => folder.close())
  } catch (error) {
    assertUnsupported(error)
  }
}

/** The same, complete when it returns. */
export function syncFolderSync(path: string): void {
  if (IS_WINDOWS) return
  try {
    const folder = openSync(path, 'r')
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  } catch (error) {
    assertUnsupported(error)
  }
}

/** It cannot open folders. */
const IS_WINDOWS = process.platform === 'win32'

/** The codes of file systems that cannot open or sync a folder, such as some network drives. */
const UNSUPPORTED = ['EINVAL', 'ENOTSUP', 'EBADF', 'EISDIR']

/** @throws any other error */
function assertUnsupported(error: unknown): void {
  if (!UNSUPPORTED.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
}
