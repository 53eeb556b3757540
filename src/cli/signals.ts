import type { Logger } from 'pino'

const CLOSE_TIMEOUT_MS = 15_000
/** A signal this soon after the first is the same one: npm forwards what the process group received. */
const DUPLICATE_SIGNAL_MS = 1_000

type StopSignal = 'SIGTERM' | 'SIGINT'

/** Where the signals to stop come from, and what ends the process at once. */
export interface StopSignals {
  signals: { on(signal: StopSignal, listener: (signal: NodeJS.Signals) => void): unknown }
  exit(code: number): void
}

/** Those of this process. */
export const processSignals: StopSignals = { signals: process, exit: (code) => process.exit(code) }

/** Calls `stop` at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function onFirstSignal(
  stop: (signal: NodeJS.Signals) => void,
  { signals, exit }: StopSignals = processSignals,
): void {
  let stoppedAt: number | undefined

  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (stoppedAt === undefined) {
      stoppedAt = now
      stop(signal)
    } else if (now - stoppedAt > DUPLICATE_SIGNAL_MS) {
      exit(1)
    }
  }
  signals.on('SIGTERM', onSignal)
  signals.on('SIGINT', onSignal)
}

/**
 * Closes at the first signal; a second one, or too long a close, ends the process.
 * Resolves when it is closed, unless `exit` has ended the process by then.
 */
export function closeOnSignal(
  logger: Logger,
  close: () => Promise<void>,
  stopSignals: StopSignals,
): Promise<void> {
  return new Promise((resolve) => {
    onFirstSignal((signal) => {
      logger.info({ signal }, 'closing')
      resolve(closeAndExit(logger, close, stopSignals.exit))
    }, stopSignals)
  })
}

/** Closes and ends the process: with 1 if that fails, or takes too long. */
export async function closeAndExit(
  logger: Logger,
  close: () => Promise<void>,
  exit: StopSignals['exit'] = processSignals.exit,
): Promise<void> {
  const timer = setTimeout(() => {
    logger.error(`not closed within ${CLOSE_TIMEOUT_MS} ms`)
    exit(1)
  }, CLOSE_TIMEOUT_MS).unref()
  try {
    await close()
    exit(0)
  } catch (err) {
    logger.error({ err }, 'close failed')
    exit(1)
  } finally {
    clearTimeout(timer)
  }
}
