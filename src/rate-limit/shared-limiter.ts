import { monotonicClock } from '../lib/clock.ts'
import type { Instrument } from '../lib/instrument.ts'
import { createDenialMemory, repeatDenials } from './denial-memory.ts'
import { createFallbackLimiter, type FallbackLimiter } from './fallback-limiter.ts'
import type { BucketRate } from './gcra.ts'
import type { Limiter, LimiterDecision } from './limiter.ts'
import { type ConnectedCounters, createCountersLimiter } from './shared-counters.ts'

/** Events of the shared limiter, for logs, metrics and traces. */
export interface SharedLimiterEvents {
  /** A decision of the local limiter, because the counters did not respond in time. */
  onFallbackDecision(decision: LimiterDecision): void
  /** Wraps every decision that is sent to the counters. */
  instrumentCounters: Instrument<LimiterDecision>
  /** The counters stopped responding. */
  onDegraded(error: unknown): void
  /** The counters respond again. */
  onRecovered(): void
}

export interface SharedLimiterOptions extends SharedLimiterEvents {
  rate: BucketRate
  /** Decides while the counters do not respond in time. */
  local: Limiter
  /** Maximum duration of a decision by the counters. Default: that of the fallback limiter. */
  deadlineMs?: number
}

/**
 * A limiter on shared counters that falls back to `local` while they do not respond in time. A
 * denial that the counters would repeat is made without them.
 */
export function createSharedLimiter(
  { counters, reconnect, close }: ConnectedCounters,
  { rate, instrumentCounters: instrument, ...options }: SharedLimiterOptions,
): FallbackLimiter {
  const denials = createDenialMemory(rate, monotonicClock)
  const limiter = createFallbackLimiter({
    ...options,
    shared: createCountersLimiter(counters, { rate, denials }),
    instrument,
    reconnect,
  })
  return {
    ...repeatDenials(limiter, denials),
    isDegraded: limiter.isDegraded,
    close() {
      limiter.close()
      close()
    },
  }
}
