import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** As `serve --demo` sets it. */
const LOOPBACK = '127.0.0.0/8,::1'

/** A command failed; its message is the command's own. */
export class CommandError extends Error {}

/**
 * Runs a command of the service with the settings of this process, and returns its output.
 * @throws CommandError
 */
export async function runCommand(args: readonly string[], input = ''): Promise<string> {
  const env = { ...process.env, WEBHOOK_ALLOW: process.env['WEBHOOK_ALLOW'] || LOOPBACK }
  const child = spawn(process.execPath, [MAIN, ...args], { env })
  child.stdin.on('error', () => {}) // A command that fails does not read its input.
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  if (child.exitCode === 0) return stdout
  throw new CommandError(`"${args.slice(0, 2).join(' ')}" failed: ${stderr.trim()}`)
}
