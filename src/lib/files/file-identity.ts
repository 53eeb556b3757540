import { statSync } from 'node:fs'

/**
 * Returns whether the path still names the file that was opened: SQLite keeps reading and writing a
 * removed or replaced one, invisibly to other processes. `file` must be open, so that no other file
 * can reuse its inode.
 */
export function trackFileIdentity(file: string): () => boolean {
  const readIdentity = () => statSync(file, { bigint: true, throwIfNoEntry: false })
  const opened = readIdentity()
  return () => {
    const now = readIdentity()
    return now !== undefined && now.ino === opened?.ino && now.dev === opened.dev
  }
}
