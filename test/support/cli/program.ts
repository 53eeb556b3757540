import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { ProcessResult } from './command.ts'

/** The path of a file of the recipes. */
export const recipe = (path: string) =>
  fileURLToPath(new URL(`../../../openapi/recipes/${path}`, import.meta.url))

export interface ProgramOptions {
  cwd: string
  env?: Record<string, string>
  input?: string
}

/** Runs a program of a recipe to its end. Its environment is `env` and `PATH`. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env = {}, input = '' }: ProgramOptions,
): Promise<ProcessResult> {
  const child = spawn(program, args, { cwd, env: { PATH: process.env['PATH'], HOME: cwd, ...env } })
  return resultOf(child, input)
}

/** Writes the input of a started program, and returns its result once it has ended. */
export async function resultOf(
  child: ChildProcessWithoutNullStreams,
  input: string | Buffer,
): Promise<ProcessResult> {
  child.stdin.on('error', () => {}) // A program that ends early does not read its input.
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code: child.exitCode, stdout, stderr }
}
