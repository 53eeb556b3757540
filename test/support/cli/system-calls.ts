import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A system call of a process: its position among all calls when it began and when it ended. */
export interface SystemCall {
  name: string
  /** Its arguments as strace prints them, with files by their path. */
  args: string
  beganAt: number
  endedAt: number
}

/** The writes and syncs of a file, and the output that confirms them. */
const TRACED = 'fsync,fdatasync,write,writev,sendto,sendmsg,pwrite64,pwritev,link,linkat,mkdir'

/** Whether strace is installed and may trace: a container may lack the permission. */
export function canTrace(): boolean {
  return spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0
}

/** The prefix that makes a command write its calls to a file; its pid stays the same. */
export function traced(file: string): string[] {
  return ['strace', '-D', '-f', '-y', '-s', '4096', '-e', `trace=${TRACED}`, '-o', file]
}

/** Parses the calls that `traced` wrote. A call that another thread interrupts has two lines. */
export function readCalls(file: string): SystemCall[] {
  const calls: SystemCall[] = []
  const unfinished = new Map<string, SystemCall>()
  for (const [at, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    const [, pid = '', resumed] = /^(\d+) +(<\.\.\. \w+ resumed>)?/.exec(line) ?? []
    const before = unfinished.get(pid)
    if (resumed !== undefined && before !== undefined) {
      before.endedAt = at
      unfinished.delete(pid)
    }
    const [, name, args] = /^\d+ +(\w+)\((.*)$/.exec(line) ?? []
    if (name === undefined || args === undefined) continue
    const call = { name, args, beganAt: at, endedAt: at }
    calls.push(call)
    if (args.endsWith('<unfinished ...>')) unfinished.set(pid, call)
  }
  return calls
}

/** The first call with this text in its arguments. */
export function callWith(calls: readonly SystemCall[], text: string): SystemCall {
  const call = calls.find(({ args }) => args.includes(text))
  if (call === undefined) throw new Error(`no call has ${text}`)
  return call
}

const ofFile = (path: string) => (call: SystemCall) =>
  call.args.includes(`${path}>`) || call.args.includes(`"${path}"`)
const isSync = ({ name }: SystemCall) => name === 'fsync' || name === 'fdatasync'

/**
 * How many writes to the file are synced before `confirmation`, and how many are not: those without
 * a later sync. `path`: the end of the file's path, or of its folder's.
 */
export function writesBefore(
  calls: readonly SystemCall[],
  confirmation: SystemCall,
  path: string,
): { durable: number; lost: number } {
  const before = calls.filter(ofFile(path)).filter(({ endedAt }) => endedAt < confirmation.beganAt)
  const lastSync = before.findLast(isSync)
  const writes = before.filter((call) => !isSync(call))
  const isDurable = ({ endedAt }: SystemCall) => endedAt < (lastSync?.beganAt ?? 0)
  const durable = writes.filter(isDurable).length
  return { durable, lost: writes.length - durable }
}
