#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { CommanderError } from 'commander'
import { buildProgram } from './commands/program.ts'

const USAGE = 2
const FAILED = 1

// Whoever reads the output may stop early (`… | head`): that must not stop the work.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

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
