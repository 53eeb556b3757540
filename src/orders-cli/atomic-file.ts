import { open, rename } from 'node:fs/promises'

/** The mode of every file: orders are personal data. */
export const PRIVATE = 0o600

/** Writes a file and syncs it to disk. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', PRIVATE)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Replaces a file atomically; `temporary` is where it is written first, on the same disk. */
export async function replaceFile(
  path: string,
  text: string,
  temporary = `${path}.new`,
): Promise<void> {
  await writeDurably(temporary, text)
  await rename(temporary, path)
}

/** The codes of file systems that cannot open or sync a folder, such as some network drives. */
const UNSUPPORTED = new Set(['EINVAL', 'ENOTSUP', 'EBADF', 'EISDIR'])

/**
 * Syncs renames and removals in a folder to disk, so that they survive a power loss. Does nothing
 * where the file system has no such operation.
 */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return // Windows cannot open folders.
  try {
    const folder = await open(path, 'r')
    await folder.sync().finally(() => folder.close())
  } catch (error) {
    if (!UNSUPPORTED.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
