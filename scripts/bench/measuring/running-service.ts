import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { poll } from '../../../test/harness/processes/poll.ts'
import { openScratch } from '../../../test/harness/processes/scratch.ts'
import { metricsMicros } from './cpu.ts'

/** The service's own program. */
export const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
/** As the image starts it. Whatever is compared with it starts as Node does by itself. */
const NODE_FLAGS = ['--max-semi-space-size=8']
const START_MS = 60_000

/** A command that runs until it is stopped, in a process of its own. */
export interface RunningService {
  readonly pid: number
  /** What its log said of each of `awaited`. */
  readonly said: readonly string[]
  /** For other commands on the same stores. */
  readonly settingsFile: string
  /** Where it logs. */
  readonly logFile: string
  /** The text of `/metrics`. */
  metrics(): Promise<string>
  /** Its CPU time since its start, in microseconds. */
  cpuMicros(): Promise<number>
  stop(): Promise<void>
}

export interface ProgramOptions {
  /** Its file; the service's own when absent. */
  program?: string
  args: readonly string[]
  settings: Readonly<Record<string, string>>
}

export interface ServiceOptions extends ProgramOptions {
  /** It has started once its log matches all of these; what they capture is kept. */
  awaited: readonly RegExp[]
}

const OPERATIONS = /operations at (http:[^"\s]+)/

/** The command line of a program that is given these settings and nothing else; `file` is written for it. */
export async function commandLine(
  file: string,
  { program = MAIN, args, settings }: ProgramOptions,
): Promise<[command: string, ...args: string[]]> {
  // In a file, since arguments can be seen by everybody on the machine.
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name}=${JSON.stringify(value)}\n`,
  )
  await writeFile(file, lines.join(''), { mode: 0o600 })
  return [
    'env',
    '-i',
    process.execPath,
    ...(program === MAIN ? NODE_FLAGS : []),
    `--env-file=${file}`,
    program,
    ...args,
  ]
}

/**
 * Starts a command with nothing but these settings, and with a folder of its own where they name none. It
 * logs as it does by default, into a file.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const scratch = await openScratch('bench')
  try {
    const file = join(scratch.path, 'settings.env')
    const settings = {
      DATA_DIR: scratch.path,
      ...options.settings,
      PORT: '0',
      OPERATIONS_PORT: '0',
    }
    const [command, ...args] = await commandLine(file, { ...options, settings })
    const service = await scratch.start('service', command, args)
    let matches: (RegExpExecArray | null)[] = []
    await poll(
      async () => {
        const log = await service.logTail()
        matches = [OPERATIONS, ...options.awaited].map((words) => words.exec(log))
        return matches.every((match) => match !== null)
      },
      async () => `the service did not start:\n${await service.logTail()}`,
      { timeoutMs: START_MS, intervalMs: 50, shouldAbort: service.hasEnded },
    )
    const [operations = '', ...said] = matches.map((match) => match?.[1] ?? '')
    const metrics = async () => (await fetch(new URL('/metrics', operations))).text()
    return {
      pid: service.pid,
      said,
      settingsFile: file,
      logFile: service.logFile,
      metrics,
      cpuMicros: async () => metricsMicros(await metrics()),
      stop: scratch.close,
    }
  } catch (error) {
    await scratch.close()
    throw error
  }
}
