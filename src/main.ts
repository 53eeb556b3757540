#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { unsupportedNodeMessage } from './cli/node-version.ts'

// Importing the commands on an older Node fails with an unhelpful error.
const tooOld = unsupportedNodeMessage(process.versions.node)
if (tooOld === undefined) {
  const { ignoreEpipe } = await import('./cli/output.ts')
  const { runProgram } = await import('./cli/program.ts')
  const { processSignals } = await import('./cli/signals.ts')
  ignoreEpipe()
  const { env, stdin, stdout, stderr } = process
  const io = { env, stdin, stdout, stderr, ...processSignals }
  process.exitCode = loadEnvFile() ? await runProgram(process.argv.slice(2), io) : 1
} else {
  console.error(tooOld)
  process.exitCode = 1
}

/** Reads `.env` if there is one. Returns false, with a message, when it cannot be read. */
function loadEnvFile(): boolean {
  try {
    if (existsSync('.env')) process.loadEnvFile()
    return true
  } catch (error) {
    console.error(`cannot read .env: ${error instanceof Error ? error.message : error}`)
    return false
  }
}
