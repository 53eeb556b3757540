import { open, rename } from 'node:fs/promises'

/** Personal data: for their owner alone. */
export const PRIVATE = 0o600

/** Writes a file that is whole and on the disk, or not there. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', PRIVATE)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Puts a file in the place of what was there, at once; `temporary`: where it is written, on the same disk. */
export async function replaceFile(
  path: string,
  text: string,
  temporary = `${path}.new`,
): Promise<void> {
  await writeDurably(temporary, text)
  await rename(temporary, path)
}

/** Makes what was renamed or removed in a folder last over a loss of power. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return // There, folders cannot be opened.
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
