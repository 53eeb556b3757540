import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { poll } from '../../../test/harness/processes/poll.ts'
import type { Scratch } from '../../../test/harness/processes/scratch.ts'
import { commandLine, MAIN, type Settings } from '../../../test/harness/processes/service.ts'
import { endedChildrenMicros } from './cpu.ts'

const TIMEOUT_MS = 7_200_000
const INTERVAL_MS = 50

export interface IndexCommand {
  /** After `index`. */
  args: readonly string[]
  settings: Settings
  /** The program of another checkout. */
  program?: string
}

/** What a command took. */
export interface CommandFigures {
  /** The end of its output. */
  log: string
  seconds: number
  cpuMicros: number
  /** The greatest resident memory, in bytes; NaN on systems without /proc. */
  peakBytes: number
}

/**
 * Runs an `index` command in a separate process with these settings only, and waits for its end.
 * @throws Error with the end of its output when it fails
 */
export async function runIndexCommand(
  scratch: Scratch,
  { args, settings, program = MAIN }: IndexCommand,
): Promise<CommandFigures> {
  const [command, ...words] = await commandLine(join(scratch.path, 'settings.env'), {
    program,
    args: ['index', ...args],
    settings: { DATA_DIR: scratch.path, ...settings },
  })
  const before = await endedChildrenMicros()
  const startedAt = performance.now()
  const child = await scratch.start(args[0] ?? '', command, words)
  let peakBytes = Number.NaN
  await poll(
    async () => {
      peakBytes = (await readPeakBytes(child.pid)) ?? peakBytes
      return child.hasEnded()
    },
    async () => `index ${args[0]} did not end. ${await child.describe()}`,
    { timeoutMs: TIMEOUT_MS, intervalMs: INTERVAL_MS, shouldAbort: () => false },
  )
  const seconds = (performance.now() - startedAt) / 1000
  const cpuMicros = (await endedChildrenMicros()) - before
  const log = await child.logTail()
  if (child.exitCode() !== 0) throw new Error(`index ${args.join(' ')} failed:\n${log}`)
  return { log, seconds, cpuMicros, peakBytes }
}

/** By the kernel; `undefined` once the process has ended. */
async function readPeakBytes(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}
