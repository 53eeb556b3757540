import { constants } from 'node:os'

/** A signal this soon after the first is the same one: npm hands on what the process group got already. */
const ECHO_MS = 1_000

export interface Interruption {
  /** Aborts at the first SIGINT or SIGTERM. */
  signal: AbortSignal
  /** As shells have it, 128 and the signal's number; `null` while there was none. */
  exitCode(): number | null
}

/** Lets work end in order at the first SIGINT or SIGTERM; a second one ends the process at once. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController()
  let code: number | null = null
  let firstAt = 0

  const onSignal = (name: NodeJS.Signals) => {
    const now = performance.now()
    if (code === null) {
      code = 128 + constants.signals[name]
      firstAt = now
      controller.abort()
    } else if (now - firstAt > ECHO_MS) {
      process.exit(code)
    }
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return { signal: controller.signal, exitCode: () => code }
}
