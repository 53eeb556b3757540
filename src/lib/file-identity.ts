import { statSync } from 'node:fs'

/** Whether the path still names the file that was opened. */
export type IsSameFile = () => boolean

/**
 * SQLite keeps reading and writing a removed or replaced file, invisibly to other processes. `file`
 * must be open, so that no other file can reuse its inode.
 */
export function trackFileIdentity(file: string): IsSameFile {
  const readIdentity = () => statSync(file, { bigint: true, throwIfNoEntry: false })
  const opened = readIdentity()
  return () => {
    const now = readIdentity()
    return now !== undefined && now.ino === opened?.ino && now.dev === opened.dev
  }
}
