import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const root = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

const MAIN = root('src/main.ts')
/** What of it is compiled already, which halves the processor time of a start: there are hundreds. */
const COMPILED = root('node_modules/.cache/compiled')

export interface ProcessResult {
  code: number | null
  stdout: string
  stderr: string
}

/**
 * Starts the command line as its users do, with nothing in its environment but `env` and what it takes to run.
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

/** Runs a command to its end. */
export async function runCommand(
  args: readonly string[],
  env: Record<string, string>,
  input: string | Buffer = '',
  under: readonly string[] = [],
): Promise<ProcessResult> {
  const child = startCommand(args, env, under)
  child.stdin.on('error', () => {}) // A command that refuses its arguments reads nothing.
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code: child.exitCode, stdout, stderr }
}

export interface RunningService {
  baseUrl: string
  /** Everything printed so far. */
  output(): { stdout: string; stderr: string }
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

const START_MS = 20_000

/** Starts `serve` on free ports and waits until it listens. */
export async function startService(
  args: readonly string[],
  env: Record<string, string>,
): Promise<RunningService> {
  const child = startCommand(['serve', ...args], { PORT: '0', OPERATIONS_PORT: '0', ...env })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => (output.stdout += chunk))
  child.stderr.on('data', (chunk) => (output.stderr += chunk))

  const deadline = Date.now() + START_MS
  for (;;) {
    const baseUrl = /Server listening at (http:[^"]+)/.exec(output.stderr)?.[1]
    // The operations come last, and after them the welcome of the demo.
    const ready = args.includes('--demo')
      ? output.stdout.includes('openapi.json')
      : output.stderr.includes('operations at')
    if (baseUrl && ready) return { baseUrl, output: () => output, stop }
    if (child.exitCode !== null || Date.now() > deadline) {
      throw new Error(`the service did not start:\n${output.stdout}\n${output.stderr}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }

  async function stop(signal: NodeJS.Signals = 'SIGTERM') {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal)
      await once(child, 'close')
    }
    return child.exitCode
  }
}
