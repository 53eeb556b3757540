import { closeSync, openSync } from 'node:fs'

const ALREADY_THERE = 'EEXIST'

/**
 * Makes an empty file for its owner alone, where there is none. One that is there is not opened: closing a
 * file ends every lock that this process has on it.
 */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== ALREADY_THERE) throw error
  }
}
