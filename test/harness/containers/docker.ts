import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

export interface CommandOptions {
  cwd?: string
  env?: NodeJS.ProcessEnv
  /** Written to its standard input. */
  input?: string
}

/** What a command wrote, and how it ended. */
export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command to its end, whatever its exit code. */
export async function runToEnd(
  [command = '', ...args]: readonly string[],
  { cwd, env = process.env, input = '' }: CommandOptions = {},
): Promise<CommandResult> {
  const child = spawn(command, args, { env, ...(cwd !== undefined && { cwd }) })
  child.stdin.on('error', () => {}) // It may end before it has read its input.
  child.stdin.end(input)
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ])
  return { code, stdout, stderr }
}

/** The trimmed output of a command. Throws an error with all its output when it fails. */
export async function outputOf(
  command: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(command, options)
  if (code !== 0) throw new Error(`${command.join(' ')} exited with ${code}:\n${stdout}${stderr}`)
  return stdout.trim()
}

/** The Docker command line on one engine. */
export interface Docker {
  /** The environment for other clients of this engine. */
  readonly env: NodeJS.ProcessEnv
  /** Runs `docker` to its end. Throws when it fails. */
  (...args: readonly string[]): Promise<string>
  /** Runs `docker` to its end, whatever its exit code. */
  attempt(args: readonly string[], options?: CommandOptions): Promise<CommandResult>
}

/** The command line on the engine at `host`, or on the default engine of the environment. */
export function dockerOn(host: string | undefined, given: NodeJS.ProcessEnv = process.env): Docker {
  const env = host === undefined ? given : { ...given, DOCKER_HOST: host }
  return Object.assign((...args: readonly string[]) => outputOf(['docker', ...args], { env }), {
    env,
    attempt: (args: readonly string[], options: CommandOptions = {}) =>
      runToEnd(['docker', ...args], { env, ...options }),
  })
}

/** Whether the engine responds. */
export async function isReachable(docker: Docker): Promise<boolean> {
  const { code } = await docker.attempt(['version', '--format', '{{.Server.Version}}'])
  return code === 0
}
