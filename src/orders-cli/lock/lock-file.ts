import { type ChildProcess, spawn } from 'node:child_process'
import { constants, open } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { openNoFollow } from '../atomic-file.ts'

/**
 * Updates the time of an existing file. By a write, so that it is the clock of the file system,
 * which also a lock of another machine has.
 * @throws CommandError if the file is a link; system errors
 */
export async function renew(file: string): Promise<void> {
  const handle = await openNoFollow(file, constants.O_RDWR)
  try {
    await handle.write('.', 0)
  } finally {
    await handle.close()
  }
}

/** Opens the file, because a network file system may return an earlier time without that. */
export async function modifiedMs(file: string): Promise<number> {
  const handle = await open(file)
  try {
    return (await handle.stat()).mtimeMs
  } finally {
    await handle.close()
  }
}

/**
 * Starts a shell that removes the lock file once this process is gone, even after SIGKILL: then
 * its input ends. In a session of its own, so that the keys of the terminal do not end it.
 */
export function removeWhenProcessEnds(file: string): ChildProcess | null {
  if (process.platform === 'win32') return null // The next process removes a dead one's lock.
  const script = 'read -r _; rm -f -- "$1"'
  const guard = spawn('/bin/sh', ['-c', script, 'sh', file], {
    cwd: '/',
    detached: true,
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.on('error', () => {}) // As on Windows.
  guard.stdin?.on('error', () => {})
  guard.unref()
  ;(guard.stdin as Partial<Socket> | null)?.unref?.()
  return guard
}
