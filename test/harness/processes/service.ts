import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { poll } from './poll.ts'
import { openScratch, type ScratchProcess } from './scratch.ts'

export type Settings = Readonly<Record<string, string>>

/** The program of the service. */
export const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
/** As in the Docker image. Other programs start with the defaults of Node. */
const SERVICE_FLAGS = ['--max-semi-space-size=2']
/** In any checkout, as source and built. */
const SERVICE_PROGRAMS = [join('src', 'main.ts'), join('dist', 'main.js')]
const START_MS = 180_000
const END_MS = 60_000
const OPERATIONS = /operations at (http:[^"\s]+)/

export interface ProgramOptions {
  /** Its file; that of the service when absent. */
  program?: string
  args: readonly string[]
  settings?: Settings
  /**
   * Where Node writes a CPU profile of the service. The folder is created, and the profile is
   * complete when the service has been disposed of.
   */
  profileFolder?: string | undefined
}

interface ServiceOptions extends ProgramOptions {
  /** The log of a started service matches all of these. */
  awaited: readonly RegExp[]
}

/** A command that runs in a separate process until it is stopped. */
export interface RunningService extends AsyncDisposable {
  readonly pid: number
  readonly operationsPort: number
  /** What each of `awaited` captured in the log. */
  readonly captured: readonly string[]
  /** For other commands on the same stores. */
  readonly settingsFile: string
  readonly logFile: string
  /** The text of `/metrics`. */
  metrics(): Promise<string>
  /** CPU time since its start, in microseconds. */
  cpuMicros(): Promise<number>
  residentBytes(): Promise<number>
}

/** The service, or a baseline of it. */
export type RunningApi = RunningService & { readonly origin: string }

/** Starts `serve` with these settings only, and waits until it listens. Its log goes to a file. */
export async function startApi(
  settings: Settings,
  options: Pick<ProgramOptions, 'program' | 'profileFolder'> = {},
): Promise<RunningApi> {
  return await startServer({ args: ['serve'], settings, ...options })
}

/** Starts a program that logs its address as the service does. */
export async function startServer(options: ProgramOptions): Promise<RunningApi> {
  const awaited = [/Server listening at (http:[^"\s]+)/]
  const service = await startService({ ...options, awaited })
  return { ...service, origin: service.captured[0] ?? '' }
}

/**
 * Writes the settings to `file`, and returns the command line that runs a program with them only.
 */
export async function commandLine(
  file: string,
  { program = MAIN, args, settings = {}, profileFolder }: ProgramOptions,
): Promise<[command: string, ...args: string[]]> {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  // A file keeps secrets out of the arguments, which every user of the machine can list.
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 })
  const flags = [
    ...(SERVICE_PROGRAMS.some((file) => program.endsWith(file)) ? SERVICE_FLAGS : []),
    ...(profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`]),
  ]
  return ['env', '-i', process.execPath, ...flags, `--env-file=${file}`, program, ...args]
}

/** Starts a command with these settings only. Its data goes to a temporary folder by default. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  await using starting = new AsyncDisposableStack()
  const scratch = await openScratch('bench')
  starting.defer(scratch.close)
  const settingsFile = join(scratch.path, 'settings.env')
  const ports = { PORT: '0', OPERATIONS_PORT: '0' }
  const settings = { DATA_DIR: scratch.path, ...options.settings, ...ports }
  const [command, ...args] = await commandLine(settingsFile, { ...options, settings })
  const service = await scratch.start('service', command, args)
  let matches: (RegExpExecArray | null)[] = []
  await poll(
    async () => {
      const log = await service.logTail()
      matches = [OPERATIONS, ...options.awaited].map((pattern) => pattern.exec(log))
      return matches.every((match) => match !== null)
    },
    async () => `the service did not start. ${await service.describe()}`,
    { timeoutMs: START_MS, intervalMs: 50, shouldAbort: service.hasEnded },
  )
  const [operations = '', ...captured] = matches.map((match) => match?.[1] ?? '')
  const metrics = async () => (await fetch(new URL('/metrics', operations))).text()
  const metric = async (name: string) => readMetric(await metrics(), name)
  const close = async () => {
    if (options.profileFolder !== undefined) await endWithProfile(service)
    await scratch.close()
  }
  starting.move()
  return {
    pid: service.pid,
    operationsPort: Number(new URL(operations).port),
    captured,
    settingsFile,
    logFile: service.logFile,
    metrics,
    cpuMicros: async () => 1e6 * (await metric('process_cpu_seconds_total')),
    residentBytes: () => metric('process_resident_memory_bytes'),
    [Symbol.asyncDispose]: close,
  }
}

/** Ends the service by SIGTERM, since Node writes no profile after a SIGKILL. */
async function endWithProfile({ pid, hasEnded, describe }: ScratchProcess): Promise<void> {
  if (!hasEnded()) process.kill(pid, 'SIGTERM')
  await poll(
    async () => hasEnded(),
    async () => `the profiled service did not end. ${await describe()}`,
    { timeoutMs: END_MS, intervalMs: 50, shouldAbort: () => false },
  )
}

/** A metric without labels in the text of `/metrics`; NaN where it is absent. */
export function readMetric(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1])
}
