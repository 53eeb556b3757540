import { CommanderError } from 'commander'
import type { ProgramIo } from './command-context.ts'
import { buildProgram } from './program.ts'

const USAGE_EXIT_CODE = 2
const FAILURE_EXIT_CODE = 1

/** Runs one command line. Resolves with the exit code once the command has ended. */
export async function runProgram(argv: readonly string[], io: ProgramIo): Promise<number> {
  let exitCode = 0
  const context = {
    ...io,
    setFailed() {
      exitCode = FAILURE_EXIT_CODE
    },
  }
  try {
    await buildProgram(context).parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE
    io.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    return FAILURE_EXIT_CODE
  }
  return exitCode
}
