import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open, readdir, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { PRIVATE } from './atomic-file.ts'
import { CommandError } from './errors.ts'

/** Processes that start at the same moment see each other's lock, so each retries after a pause. */
const MAX_TRIES = 4
const MAX_PAUSE_MS = 150

export interface Lock {
  release(): Promise<void>
}

/**
 * Excludes other processes: each creates its own lock file, `<prefix><process>`, and proceeds only
 * if no other lock file exists, so two never proceed. A dead process's lock file is removed.
 * @throws CommandError with `busy` if another process holds the lock; system errors
 */
export async function acquireLock(prefix: string, busy: string): Promise<Lock> {
  const mine = prefix + ownName()
  const guard = removeAtDeath(mine)
  try {
    await claim(prefix, mine, busy)
  } catch (error) {
    guard?.kill('SIGKILL')
    throw error
  }
  return {
    async release() {
      guard?.kill('SIGKILL') // First: it would remove the lock of a later call in this process.
      await rm(mine, { force: true })
    },
  }
}

/**
 * Starts a shell that removes the lock file once this process is gone, even after SIGKILL: then
 * its input ends. In a session of its own, so that the keys of the terminal do not end it.
 */
function removeAtDeath(file: string): ChildProcess | null {
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

/** Creates the lock file. @throws CommandError if another process holds the lock */
async function claim(prefix: string, mine: string, busy: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await (await open(mine, 'w', PRIVATE)).close()
    const holders = await liveHolders(prefix, basename(mine)).catch(async (error) => {
      await rm(mine, { force: true })
      throw error
    })
    if (holders.length === 0) return
    await rm(mine, { force: true })
    if (attempt === MAX_TRIES) throw new CommandError(`${busy} ${holders[0]}`)
    await pause(Math.random() * MAX_PAUSE_MS)
  }
}

/** The other holders, each as a hint for the error. */
async function liveHolders(prefix: string, mine: string): Promise<string[]> {
  const folder = dirname(prefix)
  const start = basename(prefix)
  const alive: string[] = []
  for (const name of await readdir(folder)) {
    if (!name.startsWith(start) || name === mine) continue
    const [, pid, startedAt, host] = /^(\d+)-(\w+)-(\w+)$/.exec(name.slice(start.length)) ?? []
    if (pid === undefined) continue
    if (host !== hostMark()) {
      alive.push(`(Ele roda em outra máquina. Se não roda mais, apague ${join(folder, name)}.)`)
    } else if (startOf(Number(pid)) === startedAt) {
      alive.push(`(É o processo ${pid}.)`)
    } else {
      await rm(join(folder, name), { force: true })
    }
  }
  return alive
}

const ownName = () => `${process.pid}-${startOf(process.pid)}-${hostMark()}`
const hostMark = () => createHash('sha256').update(hostname()).digest('hex').slice(0, 8)

/**
 * The start time of a process, which distinguishes it from a later one with the same pid; `alive`
 * if the system does not report it, `dead` if the process is gone.
 */
function startOf(pid: number): string {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'dead'
  }
  try {
    // The 22nd field, counted after the name, which may contain spaces and brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
    return fields?.[19] ?? 'alive'
  } catch {
    return 'alive'
  }
}
