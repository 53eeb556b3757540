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
  if (existsSync('.env')) process.loadEnvFile()
  const { env, stdin, stdout, stderr } = process
  const io = { env, stdin, stdout, stderr, ...processSignals }
  process.exitCode = await runProgram(process.argv.slice(2), io)
} else {
  console.error(tooOld)
  process.exitCode = 1
}
