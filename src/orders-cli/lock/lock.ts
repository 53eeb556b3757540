import { access, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { MINUTE_MS } from '../../lib/durations.ts'
import { openNew } from '../atomic-file.ts'
import { CommandError } from '../errors.ts'
import { type ForeignLock, lastRenewal, printWait, type Waiting, watch } from './foreign-lock.ts'
import { modifiedMs, removeWhenProcessEnds, renew } from './lock-file.ts'
import { hostMark, ownName, startOf, UNKNOWN_START } from './process-identity.ts'

/** Processes that start at the same moment see each other's lock, so each retries after a pause. */
const MAX_TRIES = 4
const MAX_PAUSE_MS = 150
/** How often a holder renews the time of its lock file. */
const RENEWAL_MS = 10_000
/** The age at which the lock of another machine or container counts as that of a dead process. */
const EXPIRY_MS = MINUTE_MS

export interface Lock {
  /**
   * Renews the lock. Call it before each write, because a suspended machine renews no lock.
   * @throws CommandError if the lock was removed since then, alone or with its folder, or if it is
   * a link now; system errors
   */
  assertHeld(): Promise<void>
  release(): Promise<void>
}

/**
 * Excludes other processes: each creates its own lock file, `<prefix><process>`, and proceeds only
 * if no other lock file exists, so two never proceed. A dead process's lock file is removed: at
 * once where the process table shows that it is dead, otherwise after a minute without a renewal. A
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
  const guard = removeWhenProcessEnds(mine)
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
      await renew(mine).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
        await access(dirname(mine)).catch(() => {
          throw new CommandError(
            `A pasta ${dirname(mine)} foi apagada ou movida. Repita o comando, com o novo lugar se ela foi movida.`,
          )
        })
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
 * Creates the lock file, or returns the locks that may be those of dead processes.
 * @throws CommandError if another process holds the lock
 */
async function claim(prefix: string, mine: string, busy: string): Promise<ForeignLock[]> {
  for (let attempt = 1; ; attempt++) {
    await (await openNew(mine)).close()
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
    const begun = host === hostMark() ? startOf(Number(pid)) : null
    if (begun === startedAt && begun !== UNKNOWN_START) {
      alive.push(`(É o processo ${pid}.)`)
      continue
    }
    // Without its start, a process may be a later one with the same pid, so only renewals count.
    const isOpen = begun === null || begun === UNKNOWN_START
    const renewedMs = isOpen ? await lastRenewal(file) : null
    const holder =
      begun === null ? 'Ele roda em outra máquina ou contêiner' : `Parece ser o processo ${pid}`
    if (renewedMs === 'unknown') {
      alive.push(`(${holder}. Se foi morto, espere um minuto, ou apague ${file}.)`)
    } else if (renewedMs !== null && nowMs - renewedMs <= EXPIRY_MS) {
      foreign.push({ file, holder, renewedMs, expiresInMs: renewedMs + EXPIRY_MS - nowMs })
    } else {
      await rm(file, { force: true })
    }
  }
  return { alive, foreign }
}
