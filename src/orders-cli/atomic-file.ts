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
