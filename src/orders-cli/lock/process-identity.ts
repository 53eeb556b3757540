import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** A name that no other process has, for as long as this one runs. */
export const ownName = () => `${process.pid}-${startOf(process.pid)}-${hostMark()}`

/**
 * Distinguishes process tables: of machines, of starts of a machine, and of containers, which may
 * have the same host name.
 */
export function hostMark(): string {
  const table = [hostname(), bootId(), pidNamespace()].join()
  return createHash('sha256').update(table).digest('hex').slice(0, 8)
}

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

/** The start of a living process on a system that does not report it, such as macOS and Windows. */
export const UNKNOWN_START = 'alive'

/**
 * The start time of a process, which distinguishes it from a later one with the same pid;
 * `UNKNOWN_START` if the system does not report it, `dead` if the process is gone.
 */
export function startOf(pid: number): string {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'dead'
  }
  try {
    // The 22nd field, counted after the name, which may contain spaces and brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
    return fields?.[19] ?? UNKNOWN_START
  } catch {
    return UNKNOWN_START
  }
}
