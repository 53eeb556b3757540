import { constants, type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { CommandError } from './errors.ts'

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

/** Zero on Windows, which has no such flag. */
const { O_NOFOLLOW = 0 } = constants

/**
 * Opens a file to change it, and not what a symbolic link of that name names, for the reason of
 * {@link openNew}. `flags`: of `fs.constants`.
 * @throws CommandError for a link; system errors
 */
export async function openNoFollow(path: string, flags: number): Promise<FileHandle> {
  return await open(path, flags | O_NOFOLLOW, PRIVATE).catch(async (error) => {
    const found = await lstat(path).catch(() => null)
    if (!found?.isSymbolicLink()) throw error
    throw new CommandError(
      `${path} é um link simbólico, e o comando não escreve através de um. Apague-o e repita o comando.`,
    )
  })
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
