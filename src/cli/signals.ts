import type { Logger } from 'pino'

const CLOSE_TIMEOUT_MS = 15_000
/** A signal this soon after the first is the same one: npm hands on what the process group got already. */
const DUPLICATE_SIGNAL_MS = 1_000

/** Calls `stop` at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function onFirstSignal(stop: (signal: NodeJS.Signals) => void): void {
  let stoppedAt: number | undefined

  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (stoppedAt === undefined) {
      stoppedAt = now
      stop(signal)
    } else if (now - stoppedAt > DUPLICATE_SIGNAL_MS) {
      process.exit(1)
    }
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}

/** Closes at the first signal; a second one, or too long a close, ends the process. */
export function closeOnSignal(logger: Logger, close: () => Promise<void>): void {
  onFirstSignal((signal) => {
    logger.info({ signal }, 'closing')
    closeAndExit(logger, close)
  })
}

/** Closes and ends the process: with 1 if that fails, or takes too long. */
export function closeAndExit(logger: Logger, close: () => Promise<void>): void {
  setTimeout(() => {
    logger.error(`not closed within ${CLOSE_TIMEOUT_MS} ms`)
    process.exit(1)
  }, CLOSE_TIMEOUT_MS).unref()
  close().then(
    () => process.exit(0),
    (err) => {
      logger.error({ err }, 'close failed')
      process.exit(1)
    },
  )
}
