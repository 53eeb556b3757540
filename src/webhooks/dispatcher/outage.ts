import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import { backoffMs } from '../../lib/async/backoff.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import type { DispatcherEvents } from './dispatcher-events.ts'

/** Calls of one kind to a store, for example reads of orders. */
export interface CallSource {
  succeed(): void
  /**
   * Returns when the next call may start, with exponential backoff. Rejects only with what
   * `onFatal` throws.
   */
  fail(error: unknown): Promise<void>
}

export interface OutageOptions {
  events: Pick<DispatcherEvents, 'onOutage' | 'onRecovered'>
  /** Called with an error other than Unavailable. */
  onFatal(error: unknown): void
  /** Ends the pauses. */
  signal: AbortSignal
}

/**
 * An outage lasts from the first failure of any source until all succeed again. So calls that work
 * do not end the outage of others.
 */
export interface Outage {
  createSource(): CallSource
}

/** Reports the outages of its sources, and delays their calls meanwhile. */
export function createOutage({ events, onFatal, signal }: OutageOptions): Outage {
  const failing = new Set<CallSource>()

  return { createSource }

  function createSource(): CallSource {
    let failures = 0
    const source: CallSource = {
      succeed() {
        if (failures === 0) return
        failures = 0
        failing.delete(source)
        if (failing.size === 0) events.onRecovered()
      },
      async fail(error) {
        if (!(error instanceof Unavailable)) {
          onFatal(error)
          return
        }
        failures += 1
        if (failing.size === 0) events.onOutage(error.message)
        failing.add(source)
        // Never at once: a loop of failing calls would keep the process from all other work.
        await pause(backoffMs(failures), undefined, { signal }).catch(() => setImmediate())
      },
    }
    return source
  }
}
