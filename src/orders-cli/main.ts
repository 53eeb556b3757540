#!/usr/bin/env node
import { Interruption } from './errors.ts'
import { programName } from './program-name.ts'
import { run } from './run.ts'

/** A signal this soon after the first is a duplicate, which npm forwards to its child. */
const DUPLICATE_MS = 1_000

ignoreEpipe()
process.exitCode = await run(process.argv.slice(2), {
  program: programName(process.argv[1] ?? '', process.env, process.cwd()),
  cwd: process.cwd(),
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: abortOnSignal(),
})

/** Without listeners, an error of a stream would end the process; each write handles its own. */
function ignoreEpipe(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/**
 * Aborts at the first SIGINT or SIGTERM; a second one ends the process at once. Its twin is
 * `onFirstSignal` of `src/cli/signals.ts`: this package imports nothing from `src/cli`.
 */
function abortOnSignal(): AbortSignal {
  const controller = new AbortController()
  let first: Interruption | null = null
  let firstAt = 0

  const onSignal = (name: NodeJS.Signals) => {
    const now = performance.now()
    if (first === null) {
      first = new Interruption(name)
      firstAt = now
      controller.abort(first)
    } else if (now - firstAt > DUPLICATE_MS) {
      process.exit(first.exitCode)
    }
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return controller.signal
}
