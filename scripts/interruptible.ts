import { constants } from 'node:os'
import { onFirstSignal } from '../src/cli/signals.ts'
import { UsageError } from './usage.ts'

interface Outcomes {
  /** Whether an error needs its message only, and no stack. */
  isExpected?(error: unknown): boolean
}

/**
 * Runs a script until its end or the first SIGINT or SIGTERM, which aborts the signal. It exits
 * with the status of the signal, with 2 for wrong arguments, or with 1 for another expected error.
 */
export async function interruptible(
  work: (signal: AbortSignal) => Promise<void>,
  { isExpected = () => false }: Outcomes = {},
): Promise<void> {
  const interrupted = new AbortController()
  onFirstSignal((name) => {
    process.exitCode = 128 + constants.signals[name]
    interrupted.abort(new Error(`ended by ${name}`))
  })
  try {
    await work(interrupted.signal)
  } catch (error) {
    const isUsage = error instanceof UsageError
    if (!isUsage && !interrupted.signal.aborted && !isExpected(error)) throw error
    console.error(error instanceof Error ? error.message : error)
    process.exitCode ??= isUsage ? 2 : 1
  }
}
