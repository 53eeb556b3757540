import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Interruption } from '../../../src/orders-cli/errors.ts'
import { run } from '../../../src/orders-cli/run.ts'
import type { ProcessResult } from '../cli/command.ts'

const root = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

const MAIN = root('src/orders-cli/main.ts')
const COMPILED = root('node_modules/.cache/compiled')

export interface Place {
  /** The working directory of the run. */
  cwd: string
  env?: Record<string, string>
}

/** A run of `orders` in this process. */
export interface OrdersRun {
  finished: Promise<ProcessResult>
  /** Everything printed so far. */
  output(): { stdout: string; stderr: string }
  /** Interrupts the run as `main.ts` does at a signal. */
  interrupt(signal?: NodeJS.Signals): void
}

/** Starts `orders` in this process; its environment is `env` alone. */
export function beginOrders(args: readonly string[], { cwd, env = {} }: Place): OrdersRun {
  const stdout = createSink()
  const stderr = createSink()
  const controller = new AbortController()
  const program = ['orders']
  const exit = run(args, { program, cwd, env, stdout, stderr, signal: controller.signal })
  const output = () => ({ stdout: stdout.text(), stderr: stderr.text() })
  return {
    finished: exit.then((code) => ({ code, ...output() })),
    output,
    interrupt: (signal = 'SIGINT') => controller.abort(new Interruption(signal)),
  }
}

/** Runs `orders` in this process to its end. */
export const runOrders = (args: readonly string[], place: Place): Promise<ProcessResult> =>
  beginOrders(args, place).finished

/** A stream that is no terminal; it confirms writes asynchronously, as a pipe does. */
function createSink() {
  let written = ''
  return {
    isTTY: false,
    columns: 0,
    write(chunk: string, confirm?: () => void) {
      written += chunk
      if (confirm) setImmediate(confirm)
    },
    text: () => written,
  }
}

const environment = (env: Place['env']) => ({
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: COMPILED,
  ...env,
})

/** Starts `orders` as a separate process, for signals, kills and locks. */
export function spawnOrders(
  args: readonly string[],
  { cwd, env }: Place,
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [MAIN, ...args], { cwd, env: environment(env) })
}

/** Waits for the end of a process. */
export async function finish(child: ChildProcessWithoutNullStreams): Promise<ProcessResult> {
  child.stdin.on('error', () => {})
  child.stdin.end()
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code: child.exitCode, stdout, stderr }
}

/** `orders` in a shell command, which may continue with other commands. */
export const ordersInShell = (args: string) => `"${process.execPath}" "${MAIN}" ${args}`

/** Runs a shell command. */
export const runShell = (line: string, { cwd, env }: Place): Promise<ProcessResult> =>
  finish(spawn('bash', ['--norc', '-c', line], { cwd, env: environment(env) }))

/** Starts a shell command on a pseudo-terminal, to which its stdin is typed. */
export const startOnTerminal = (line: string, { cwd, env }: Place) =>
  spawn('script', ['-qefc', line, '/dev/null'], { cwd, env: environment(env) })
