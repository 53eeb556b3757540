import { type FileHandle, open, rename, rm } from 'node:fs/promises'

/** The mode of every file: orders are personal data. */
export const PRIVATE = 0o600

/**
 * Opens a new file in place of any other of that name, such as one of a killed process. Exclusive,
 * because in a folder that others may write to, it could be a link to any file, or readable for
 * them.
 */
export async function openNew(path: string): Promise<FileHandle> {
  await rm(path, { force: true })
  return await open(path, 'wx', PRIVATE)
}

/** Writes a file and syncs it to disk. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const file = await openNew(path)
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
