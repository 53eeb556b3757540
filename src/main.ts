#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs'
// By its default: an older Node, whose error is below, has no export `parseEnv`.
import util from 'node:util'
import { unsupportedNodeMessage } from './cli/node-version.ts'

// Importing the commands on an older Node fails with an unhelpful error.
const tooOld = unsupportedNodeMessage(process.versions.node)
if (tooOld === undefined) {
  const { handleOutputErrors } = await import('./cli/output.ts')
  const { runProgram } = await import('./cli/program.ts')
  const { processSignals } = await import('./cli/signals.ts')
  handleOutputErrors()
  const { env, stdin, stdout, stderr } = process
  const io = { env, stdin, stdout, stderr, ...processSignals }
  process.exitCode = loadEnvFile() ? await runProgram(process.argv.slice(2), io) : 1
} else {
  console.error(tooOld)
  process.exitCode = 1
}

/**
 * Reads `.env` if there is one. Returns false, with a message, when it cannot be read. Editors on
 * Windows write a byte order mark, with which `process.loadEnvFile` ignores the first setting, and
 * UTF-16, of which it ignores all.
 */
function loadEnvFile(): boolean {
  try {
    if (!existsSync('.env')) return true
    const text = readFileSync('.env', 'utf8')
    if (text.includes('\0')) throw new Error('it is not UTF-8')
    const settings = util.parseEnv(text.replace(/^\ufeff/, ''))
    for (const [name, value] of Object.entries(settings)) process.env[name] ??= value
    return true
  } catch (error) {
    console.error(`cannot read .env: ${error instanceof Error ? error.message : error}`)
    return false
  }
}
