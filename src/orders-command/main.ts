#!/usr/bin/env node
import { monotonicClock } from '../lib/clock.ts'
import { createStatusLine } from '../lib/status-line.ts'
import type { Context } from './context.ts'
import { explain } from './explain.ts'
import { Unfinished } from './faults.ts'
import { listenForInterruption } from './interruption.ts'
import { runOrders } from './orders.ts'
import { outliveReaders } from './output.ts'

outliveReaders()
const interruption = listenForInterruption()
const status = createStatusLine(process.stderr, monotonicClock)
const context: Context = { env: process.env, signal: interruption.signal, status }

try {
  await runOrders(process.argv.slice(2), context)
} catch (error) {
  const cause = error instanceof Unfinished ? error.cause : error
  const interrupted = interruption.exitCode()
  const { message, exitCode } = explain(cause)
  status.printLine(interrupted === null ? message : 'Interrompido.')
  if (error instanceof Unfinished) status.printLine(error.hint)
  process.exitCode = interrupted ?? exitCode
}
