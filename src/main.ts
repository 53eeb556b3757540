#!/usr/bin/env node
import { unsupportedNodeMessage } from './cli/node-version.ts'

// What the commands import would end an older Node with an error that says nothing.
const tooOld = unsupportedNodeMessage(process.versions.node)
if (tooOld === undefined) {
  const { runProgram } = await import('./cli/run-program.ts')
  await runProgram()
} else {
  console.error(tooOld)
  process.exitCode = 1
}
