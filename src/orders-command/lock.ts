import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open, readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { PRIVATE } from './atomic-file.ts'
import { Failure } from './faults.ts'

/** Of processes that begin at the same moment each sees the other's lock, and one of them has to come back. */
const TRIES = 4
const LONGEST_PAUSE_MS = 150

export interface Lock {
  release(): Promise<void>
}

/**
 * Keeps other processes off: each has a lock file of its own, `<prefix><process>`, and goes on only if it sees
 * nobody else's, so that two never do. A file that a dead process left belongs to nobody else, and is removed.
 * @throws Failure with `busy` where another process is at work; Error of the system
 */
export async function takeLock(prefix: string, busy: string): Promise<Lock> {
  const mine = prefix + nameOfMine()
  for (let attempt = 1; ; attempt++) {
    await (await open(mine, 'w', PRIVATE)).close()
    const others = await othersAlive(prefix, basename(mine)).catch(async (error) => {
      await rm(mine, { force: true })
      throw error
    })
    if (others.length === 0) return { release: () => rm(mine, { force: true }) }
    await rm(mine, { force: true })
    if (attempt === TRIES) throw new Failure(`${busy} ${others[0]}`)
    await pause(Math.random() * LONGEST_PAUSE_MS)
  }
}

/** Who else is at work, in words. */
async function othersAlive(prefix: string, mine: string): Promise<string[]> {
  const folder = dirname(prefix)
  const start = basename(prefix)
  const alive: string[] = []
  for (const name of await readdir(folder)) {
    if (!name.startsWith(start) || name === mine) continue
    const [, pid, startedAt, host] = /^(\d+)-(\w+)-(\w+)$/.exec(name.slice(start.length)) ?? []
    if (pid === undefined) continue
    if (host !== hostMark()) {
      alive.push(`(Ele roda em outra máquina. Se já não roda, apague ${join(folder, name)}.)`)
    } else if (startOf(Number(pid)) === startedAt) {
      alive.push(`(É o processo ${pid}.)`)
    } else {
      await rm(join(folder, name), { force: true })
    }
  }
  return alive
}

const nameOfMine = () => `${process.pid}-${startOf(process.pid)}-${hostMark()}`
const hostMark = () => createHash('sha256').update(hostname()).digest('hex').slice(0, 8)

/**
 * What tells a process from a later one of the same number: when it began, where the system says; `dead` where
 * there is none.
 */
function startOf(pid: number): string {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'dead'
  }
  try {
    // After the name, which may have spaces and brackets itself; the 22nd field of all.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
    return fields?.[19] ?? 'alive'
  } catch {
    return 'alive'
  }
}
