import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { ProcessResult } from '../cli/command.ts'

const root = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

const MAIN = root('src/orders-command/main.ts')
const COMPILED = root('node_modules/.cache/compiled')

export interface Place {
  /** The folder in which it runs. */
  cwd: string
  env?: Record<string, string>
}

const environment = (env: Place['env']) => ({
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: COMPILED,
  ...env,
})

/** Starts `orders` as its users do, with nothing in its environment but `env` and what it takes to run. */
export function startOrders(
  args: readonly string[],
  { cwd, env }: Place,
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [MAIN, ...args], { cwd, env: environment(env) })
}

/** Waits for the end of what was started. */
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

export const runOrders = (args: readonly string[], place: Place): Promise<ProcessResult> =>
  finish(startOrders(args, place))

/** `orders` in the words of a shell, which may be followed by more. */
export const ordersInShell = (args: string) => `"${process.execPath}" "${MAIN}" ${args}`

/** Lets a shell run a line. */
export const runShell = (line: string, { cwd, env }: Place): Promise<ProcessResult> =>
  finish(spawn('bash', ['--norc', '-c', line], { cwd, env: environment(env) }))

/** Starts a shell's line on a terminal of its own: what is written to its stdin is typed. */
export const startOnTerminal = (line: string, { cwd, env }: Place) =>
  spawn('script', ['-qefc', line, '/dev/null'], { cwd, env: environment(env) })
