import type { Logger } from 'pino'

const GRACE_MS = 15_000
/** A signal this soon after the first is the same one: npm hands on what the process group got already. */
const ECHO_MS = 1_000

/** Closes on SIGTERM or SIGINT; a second signal, or too long a close, ends the process at once. */
export function closeOnSignal(logger: Logger, close: () => Promise<void>): void {
  let closingSince: number | undefined

  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (closingSince !== undefined) {
      if (now - closingSince > ECHO_MS) process.exit(1)
      return
    }
    closingSince = now
    logger.info({ signal }, 'closing')
    setTimeout(() => {
      logger.error(`not closed within ${GRACE_MS} ms`)
      process.exit(1)
    }, GRACE_MS).unref()
    close().then(
      () => process.exit(0),
      (err) => {
        logger.error({ err }, 'close failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}
