#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { CommanderError } from 'commander'
import { outliveReaders } from './commands/broken-pipe.ts'
import { buildProgram } from './commands/program.ts'

const USAGE = 2
const FAILED = 1

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
