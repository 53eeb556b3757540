import { setInterval } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { IndexInspection } from '../../indexing/consistency-check/index-inspection.ts'

const CHECK_INTERVAL_MS = 10_000

/** Checks the read alias until it is stopped, and logs each fault and its end. */
export function monitorReadAlias(
  inspection: Pick<IndexInspection, 'readAliasFault'>,
  logger: Logger,
): { isFaulty(): boolean; stop(): void } {
  let fault: string | null = null
  const stopped = new AbortController()

  async function check(): Promise<void> {
    const found = await inspection.readAliasFault()
    if (found === fault) return
    fault = found
    if (fault === null) logger.info('the read alias is correct again')
    else logger.error({ reason: fault }, 'the API does not return every order')
  }

  async function checkPeriodically(): Promise<void> {
    const options = { ref: false, signal: stopped.signal }
    for await (const _ of setInterval(CHECK_INTERVAL_MS, undefined, options))
      await check().catch(() => {}) // The readiness reports a store that does not respond.
  }
  checkPeriodically().catch(() => {}) // stop() aborts it.
  return { isFaulty: () => fault !== null, stop: () => stopped.abort() }
}
