import type { Logger } from 'pino'

const CLOSE_TIMEOUT_MS = 15_000
/** A signal this soon after the first is a duplicate, which npm forwards to its child. */
const DUPLICATE_SIGNAL_MS = 1_000

type StopSignal = 'SIGTERM' | 'SIGINT'

/** The source of the stop signals, and the function that ends the process. */
export interface StopSignals {
  signals: { on(signal: StopSignal, listener: (signal: NodeJS.Signals) => void): unknown }
  exit(code: number): void
}

/** The signals and the exit of this process. */
export const processSignals: StopSignals = { signals: process, exit: (code) => process.exit(code) }

/** Calls `stop` at the first SIGTERM or SIGINT; a second one ends the process immediately. */
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

/** Aborts at the first SIGTERM or SIGINT; a second one ends the process immediately. */
export function abortOnSignal(stopSignals: StopSignals): AbortSignal {
  const controller = new AbortController()
  onFirstSignal(() => controller.abort(), stopSignals)
  return controller.signal
}

/**
 * Closes at the first signal; a second signal or a timeout ends the process. Resolves after the
 * close, unless `exit` ends the process first.
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

/**
 * Runs `work` until the first signal aborts its `AbortSignal`; then as {@link closeOnSignal}.
 * Rejects as soon as `work` fails.
 */
export async function runUntilSignal(
  work: (signal: AbortSignal) => Promise<void>,
  logger: Logger,
  stopSignals: StopSignals,
): Promise<void> {
  const stopping = new AbortController()
  const running = work(stopping.signal)
  const close = () => {
    stopping.abort()
    return running
  }
  const closed = closeOnSignal(logger, close, stopSignals)
  await running
  await closed
}

/** Closes and ends the process: with 1 if the close fails or times out. */
export async function closeAndExit(
  logger: Logger,
  close: () => Promise<void>,
  exit: StopSignals['exit'] = processSignals.exit,
): Promise<void> {
  const timer = setTimeout(() => {
    logger.error(`close timed out after ${CLOSE_TIMEOUT_MS} ms`)
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
