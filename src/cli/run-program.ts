import { existsSync } from 'node:fs'
import { CommanderError } from 'commander'
import { ignoreEpipe } from './ignore-epipe.ts'
import { buildProgram } from './program.ts'

const USAGE_EXIT_CODE = 2
const FAILURE_EXIT_CODE = 1

/** Runs what the arguments of this process ask for, and sets its exit code. */
export async function runProgram(): Promise<void> {
  ignoreEpipe()
  if (existsSync('.env')) process.loadEnvFile()
  try {
    await buildProgram(process.env).parseAsync()
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : USAGE_EXIT_CODE
    } else {
      console.error(error instanceof Error ? error.message : error)
      process.exitCode = FAILURE_EXIT_CODE
    }
  }
}
