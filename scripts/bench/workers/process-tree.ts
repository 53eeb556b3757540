import { readdir, readFile } from 'node:fs/promises'

/** What the kernel tells of a process, as far as it matters here. */
export interface ProcessTimes {
  pid: number
  parent: number
  cpuMicros: number
}

/** Linux tells CPU time in hundredths of a second, to programs of every machine. */
const TICK_MICROS = 10_000

/** A line of `/proc/<pid>/stat`. The name in it may have spaces and parentheses. */
export function readStat(line: string): ProcessTimes {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const [, parent, , , , , , , , , , user, system] = fields
  return {
    pid: Number.parseInt(line, 10),
    parent: Number(parent),
    cpuMicros: TICK_MICROS * (Number(user) + Number(system)),
  }
}

/** The CPU time of a process and all of its descendants that still run. */
export function treeMicros(processes: readonly ProcessTimes[], root: number): number {
  const own = processes.find(({ pid }) => pid === root)?.cpuMicros ?? 0
  const children = processes.filter(({ parent }) => parent === root)
  return children.reduce((total, { pid }) => total + treeMicros(processes, pid), own)
}

/** The same of a running process, in microseconds; `NaN` where there is no `/proc`. */
export async function readTreeMicros(root: number): Promise<number> {
  try {
    const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const lines = await Promise.allSettled(
      names.map((name) => readFile(`/proc/${name}/stat`, 'utf8')),
    )
    // A process may have ended meanwhile.
    const found = lines.flatMap((line) => (line.status === 'fulfilled' ? [line.value] : []))
    return treeMicros(found.map(readStat), root)
  } catch {
    return Number.NaN
  }
}
