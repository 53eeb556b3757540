import { closeSync, openSync } from 'node:fs'

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
  }
}
