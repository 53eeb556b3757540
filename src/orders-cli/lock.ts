import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { open, readdir, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { monotonicClock } from '../lib/clock.ts'
import type { StatusLine } from '../lib/status-line.ts'
import { PRIVATE } from './atomic-file.ts'
import { CommandError } from './errors.ts'

/** Processes that start at the same moment see each other's lock, so each retries after a pause. */
const MAX_TRIES = 4
const MAX_PAUSE_MS = 150
/** How often a holder renews the time of its lock file. */
const RENEWAL_MS = 10_000
/** The age at which the lock of another machine or container counts as that of a dead process. */
const EXPIRY_MS = 60_000
/** How often a waiting process reads the times of such locks. */
const WATCH_MS = 1_000

/** What a process needs that waits for a lock, from the context of its command. */
export interface Waiting {
  signal?: AbortSignal
  status?: Pick<StatusLine, 'printLine'>
}

export interface Lock {
  /**
   * Renews the lock. Call it before each write, because a suspended machine renews no lock.
   * @throws CommandError if another process has removed the lock since then; system errors
   */
  assertHeld(): Promise<void>
  release(): Promise<void>
}

/**
 * Excludes other processes: each creates its own lock file, `<prefix><process>`, and proceeds only
 * if no other lock file exists, so two never proceed. A dead process's lock file is removed: at once
 * where the process table shows that it is dead, otherwise after a minute without a renewal. A
 * start waits for that, because a restarted container finds the lock that it had before. A lock of
 * the kernel would need SQLite, which Node 20 lacks, and support of the network file system.
 * @throws CommandError with `busy` if another process holds the lock; an abort; system errors
 */
export async function acquireLock(
  prefix: string,
  busy: string,
  { renewalMs = RENEWAL_MS, signal, status }: Waiting & { renewalMs?: number } = {},
): Promise<Lock> {
  const mine = prefix + ownName()
  const guard = removeAtDeath(mine)
  try {
    let foreign = await claim(prefix, mine, busy)
    if (foreign.length > 0) printWait(foreign, status)
    for (; foreign.length > 0; foreign = await claim(prefix, mine, busy)) {
      await watch(foreign, busy, signal)
    }
  } catch (error) {
    guard?.kill('SIGKILL')
    throw error
  }
  const renewals = setInterval(() => void renew(mine).catch(() => {}), renewalMs).unref()
  return {
    async assertHeld() {
      await renew(mine).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
        throw new CommandError(`${busy} (Este ficou parado mais de um minuto, e perdeu a vez.)`)
      })
    },
    async release() {
      clearInterval(renewals)
      guard?.kill('SIGKILL') // First: it would remove the lock of a later call in this process.
      await rm(mine, { force: true })
    },
  }
}

/**
 * Updates the time of an existing file. By a write, so that it is the clock of the file system,
 * which also a lock of another machine has.
 */
async function renew(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.write('.', 0)
  } finally {
    await handle.close()
  }
}

/** Opens the file, because a network file system may return an earlier time without that. */
async function modifiedMs(file: string): Promise<number> {
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

/**
 * Creates the lock file, or returns the locks that may be those of dead processes.
 * @throws CommandError if another process holds the lock
 */
async function claim(prefix: string, mine: string, busy: string): Promise<ForeignLock[]> {
  for (let attempt = 1; ; attempt++) {
    await (await open(mine, 'w', PRIVATE)).close()
    const { alive, foreign } = await otherLocks(prefix, mine).catch(async (error) => {
      await rm(mine, { force: true })
      throw error
    })
    if (alive.length === 0 && foreign.length === 0) return []
    await rm(mine, { force: true })
    if (attempt < MAX_TRIES) await pause(Math.random() * MAX_PAUSE_MS)
    else if (alive.length === 0) return foreign
    else throw new CommandError(`${busy} ${alive[0]}`)
  }
}

/** A lock of another process table, which shows only by its renewals that its process is alive. */
interface ForeignLock {
  file: string
  renewedMs: number
  expiresInMs: number
}

/** The other locks: `alive`: of processes that are alive, each as a hint for the error. */
async function otherLocks(prefix: string, mine: string) {
  const folder = dirname(prefix)
  const start = basename(prefix)
  await renew(mine)
  const nowMs = await modifiedMs(mine)
  const alive: string[] = []
  const foreign: ForeignLock[] = []
  for (const name of await readdir(folder)) {
    if (!name.startsWith(start) || name === basename(mine)) continue
    const file = join(folder, name)
    const [, pid, startedAt, host] = /^(\d+)-(\w+)-(\w+)$/.exec(name.slice(start.length)) ?? []
    if (pid === undefined) continue
    const isHere = startOf(Number(pid)) === startedAt
    if (isHere && (host === hostMark() || host === oldHostMark())) {
      alive.push(`(É o processo ${pid}.)`)
      continue
    }
    const renewedMs = host === hostMark() ? null : await lastRenewal(file)
    if (renewedMs === 'unknown') {
      alive.push(
        `(Ele roda em outra máquina ou contêiner. Se foi morto, espere um minuto, ou apague ${file}.)`,
      )
    } else if (renewedMs !== null && nowMs - renewedMs <= EXPIRY_MS) {
      foreign.push({ file, renewedMs, expiresInMs: renewedMs + EXPIRY_MS - nowMs })
    } else {
      await rm(file, { force: true })
    }
  }
  return { alive, foreign }
}

/** When a lock was renewed: `null` if it is gone, `unknown` if it is another user's. */
const lastRenewal = (file: string): Promise<number | null | 'unknown'> =>
  modifiedMs(file).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? null : 'unknown',
  )

/**
 * Waits until one of the locks expires or is gone. Without a lock of its own, so that of several
 * waiting processes none takes another for a holder.
 * @throws CommandError once a lock is renewed, because then its process is alive; an abort
 */
async function watch(locks: ForeignLock[], busy: string, signal?: AbortSignal): Promise<void> {
  let leftMs = firstExpiryMs(locks)
  for (
    const untilMs = monotonicClock() + leftMs;
    leftMs >= 0;
    leftMs = untilMs - monotonicClock()
  ) {
    await pause(Math.min(leftMs + 1, WATCH_MS), undefined, { ...(signal && { signal }) })
    for (const { file, renewedMs } of locks) {
      const latestMs = await lastRenewal(file)
      if (latestMs === null) return
      if (latestMs === renewedMs) continue
      throw new CommandError(
        `${busy} (Ele roda em outra máquina ou contêiner: acaba de renovar ${file}.)`,
      )
    }
  }
}

function printWait(locks: ForeignLock[], status: Waiting['status']): void {
  const seconds = Math.ceil(firstExpiryMs(locks) / 1000)
  status?.printLine(
    `esperando até ${seconds} s: ${locks[0]?.file} é a trava de outra máquina ou contêiner, ou deste antes de reiniciar.`,
  )
}

const firstExpiryMs = (locks: ForeignLock[]) =>
  Math.min(...locks.map(({ expiresInMs }) => expiresInMs))

const ownName = () => `${process.pid}-${startOf(process.pid)}-${hostMark()}`

/**
 * Distinguishes process tables: of machines, of starts of a machine, and of containers, which may
 * have the same host name.
 */
function hostMark(): string {
  const table = [hostname(), bootId(), pidNamespace()].join()
  return createHash('sha256').update(table).digest('hex').slice(0, 8)
}

/** The mark of earlier releases, which never renew their lock. */
const oldHostMark = () => createHash('sha256').update(hostname()).digest('hex').slice(0, 8)

// Both are empty where the system is not Linux.
const bootId = () => textOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))
const pidNamespace = () => textOrEmpty(() => readlinkSync('/proc/self/ns/pid'))

function textOrEmpty(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

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
