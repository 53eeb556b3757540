import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { runProgram } from '../../../src/cli/program.ts'
import { resultOf } from './program.ts'

const root = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

const MAIN = root('src/main.ts')
/**
 * The compile cache, which halves the processor time of a start: the tests start hundreds of
 * processes.
 */
const COMPILED = root('node_modules/.cache/compiled')

export interface ProcessResult {
  code: number | null
  stdout: string
  stderr: string
}

/**
 * Starts the command line as its users do. Its environment is `env` and the minimum to run.
 * `under`: the command that runs it, such as strace.
 */
export function startCommand(
  args: readonly string[],
  env: Record<string, string>,
  under: readonly string[] = [],
): ChildProcessWithoutNullStreams {
  const [program = '', ...words] = [...under, process.execPath, MAIN, ...args]
  return spawn(program, words, {
    env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: COMPILED, ...env },
    cwd: env['DATA_DIR'],
  })
}

/**
 * Runs a command in a separate process, for effects that only a process has: see
 * {@link runCommand}.
 */
export async function runProcess(
  args: readonly string[],
  env: Record<string, string>,
  input: string | Buffer = '',
  under: readonly string[] = [],
): Promise<ProcessResult> {
  return resultOf(startCommand(args, env, under), input)
}

/** The number of bytes that Node reads from a pipe at once. */
const CHUNK_BYTES = 65_536

/** A command that runs in this process, with separate streams and signals. */
export interface InProcessCommand {
  /** Everything printed so far. */
  output(): { stdout: string; stderr: string }
  sendSignal(signal: 'SIGTERM' | 'SIGINT'): void
  /** Resolves with the result once the command has ended. */
  finished: Promise<ProcessResult>
}

/**
 * Starts a command in this process. Its environment is `env` alone, and relative paths resolve
 * against the folder of this process.
 */
export function startInProcess(
  args: readonly string[],
  env: Readonly<Partial<Record<string, string>>>,
  input: string | Buffer = '',
): InProcessCommand {
  const { NODE_OPTIONS, WORKERS } = env
  if (NODE_OPTIONS !== undefined || (WORKERS !== undefined && WORKERS !== '1')) {
    throw new Error('NODE_OPTIONS and WORKERS need a process: use runProcess')
  }
  const output = { stdout: '', stderr: '' }
  const capture = (name: 'stdout' | 'stderr') => ({
    isTTY: false,
    columns: 0,
    write(text: string, onWritten?: () => void) {
      output[name] += text
      onWritten?.()
      return true
    },
  })
  const signals = new EventEmitter()
  let exitCode: number | undefined
  const io = {
    env,
    stdin: Readable.from(chunksOf(Buffer.from(input)), { objectMode: false }),
    stdout: capture('stdout'),
    stderr: capture('stderr'),
    signals,
    exit(code: number) {
      exitCode ??= code
    },
  }
  const finished = runProgram(args, io).then((code) => ({ code: exitCode ?? code, ...output }))
  return {
    output: () => output,
    sendSignal: (signal) => void signals.emit(signal, signal),
    finished,
  }
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    yield bytes.subarray(at, at + CHUNK_BYTES)
  }
}

/**
 * Runs a command to its end in this process, which needs a tenth of the time of {@link runProcess}.
 */
export const runCommand = (
  args: readonly string[],
  env: Readonly<Partial<Record<string, string>>>,
  input: string | Buffer = '',
): Promise<ProcessResult> => startInProcess(args, env, input).finished

export interface RunningService {
  baseUrl: string
  /** Everything printed so far. */
  output(): { stdout: string; stderr: string }
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

const START_MS = 180_000
const FREE_PORTS = { PORT: '0', OPERATIONS_PORT: '0' }

/** Starts `serve` in a separate process, on free ports, and waits until it listens. */
export async function startService(
  args: readonly string[],
  env: Record<string, string>,
): Promise<RunningService> {
  const child = startCommand(['serve', ...args], { ...FREE_PORTS, ...env })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => (output.stdout += chunk))
  child.stderr.on('data', (chunk) => (output.stderr += chunk))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const baseUrl = await listening(args, output, hasEnded)
  return { baseUrl, output: () => output, stop }

  async function stop(signal: NodeJS.Signals = 'SIGTERM') {
    if (!hasEnded()) {
      child.kill(signal)
      await once(child, 'close')
    }
    return child.exitCode
  }
}

/**
 * Starts `serve` in this process. A signal reaches this service only, and SIGKILL is impossible.
 */
export async function serveInProcess(
  args: readonly string[],
  env: Record<string, string>,
): Promise<RunningService> {
  const command = startInProcess(['serve', ...args], { ...FREE_PORTS, ...env })
  let code: number | null | undefined
  const ended = command.finished.then((finished) => {
    code = finished.code
    return finished.code
  })
  const baseUrl = await listening(args, command.output(), () => code !== undefined)
  return {
    baseUrl,
    output: command.output,
    async stop(signal = 'SIGTERM') {
      if (signal !== 'SIGTERM' && signal !== 'SIGINT') throw new Error(`${signal} needs a process`)
      if (code === undefined) command.sendSignal(signal)
      return await ended
    },
  }
}

/** Waits until `serve` has logged that it listens, and returns its URL. */
async function listening(
  args: readonly string[],
  output: Readonly<{ stdout: string; stderr: string }>,
  hasEnded: () => boolean,
): Promise<string> {
  const deadline = Date.now() + START_MS
  for (;;) {
    const baseUrl = /Server listening at (http:[^"]+)/.exec(output.stderr)?.[1]
    // The operations line is the last log line, followed by the welcome text of the demo.
    const ready = args.includes('--demo')
      ? output.stdout.includes('openapi.json')
      : output.stderr.includes('operations at')
    if (baseUrl && ready) return baseUrl
    if (hasEnded() || Date.now() > deadline) {
      throw new Error(`the service did not start:\n${output.stdout}\n${output.stderr}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
