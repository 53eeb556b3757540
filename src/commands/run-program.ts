import { existsSync } from 'node:fs'
import { CommanderError } from 'commander'
import { outliveReaders } from './broken-pipe.ts'
import { buildProgram } from './program.ts'

const USAGE = 2
const FAILED = 1

/** Runs what the arguments of this process ask for, and sets its exit code. */
export async function runProgram(): Promise<void> {
  outliveReaders()
  if (existsSync('.env')) process.loadEnvFile()
  try {
    await buildProgram(process.env).parseAsync()
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : USAGE
    } else {
      console.error(error instanceof Error ? error.message : error)
      process.exitCode = FAILED
    }
  }
}
