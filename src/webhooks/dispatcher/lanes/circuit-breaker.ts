import { MINUTE_MS } from '../../../lib/durations.ts'
import { MAX_RETRY_AFTER_MS } from '../../deliveries/retry-schedule.ts'

/**
 * Opens after consecutive failures, and then lets single probes through. All instants are monotonic
 * milliseconds, because a clock that is set back would delay the next probe.
 *
 * Retries never open it: a few orders that the receiver always rejects would stop all others. An
 * endpoint that is down fails new deliveries too. Until there are some, each retry follows its
 * schedule, which bounds the attempts.
 */
export interface CircuitBreaker {
  isOpen(): boolean
  /** Whether it is open, and as many failures as open it were seen since the last success. */
  isConfirmed(): boolean
  /** When the next probe may start; infinite while closed, or during a probe. */
  probeAt(): number
  /**
   * Whether the next probe prefers the next due delivery to one that failed shortly before: the
   * first one does, and then every second one. Probes with rejected orders alone would never close
   * it.
   */
  prefersNew(): boolean
  startProbe(): void
  /** A probe that was not sent. */
  cancelProbe(): void
  /** The same, where the next probe would not be sent either: it waits as after the opening. */
  postponeProbe(nowMs: number): void
  /** Closes it. */
  recordSuccess(): void
  /** `subject`: the order; a single one never opens the breaker. */
  recordFailure(failure: BreakerFailure): void
}

export interface BreakerFailure {
  subject: string
  isProbe: boolean
  /** The delivery had failed before. */
  isRetry: boolean
  /** From the response; delays the next probe, up to one hour. */
  retryAfterMs: number | null
  nowMs: number
}

const FAILURES_TO_OPEN = 5
const FIRST_PROBE_MS = 10_000
const LONGEST_PROBE_MS = 15 * MINUTE_MS

/** Creates a breaker. `openedBefore`: it was open when the last dispatcher stopped; probes now. */
export function createCircuitBreaker(openedBefore: boolean, nowMs: number): CircuitBreaker {
  const failing = new Set<string>()
  let isOpen = openedBefore
  let failures = 0
  let probeAt = openedBefore ? nowMs : Number.POSITIVE_INFINITY
  let isProbing = false
  let prefersNew = true
  let delayMs = FIRST_PROBE_MS

  function scheduleProbe({ nowMs, retryAfterMs }: BreakerFailure): void {
    probeAt = nowMs + Math.max(delayMs, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS))
  }

  return {
    isOpen: () => isOpen,
    isConfirmed: () => isOpen && failures >= FAILURES_TO_OPEN,
    probeAt: () => (isProbing ? Number.POSITIVE_INFINITY : probeAt),
    prefersNew: () => prefersNew,
    startProbe() {
      isProbing = true
      prefersNew = !prefersNew
    },
    cancelProbe() {
      isProbing = false
    },
    postponeProbe(nowMs) {
      isProbing = false
      probeAt = nowMs + FIRST_PROBE_MS
    },
    recordSuccess() {
      failing.clear()
      failures = 0
      isOpen = false
      isProbing = false
      probeAt = Number.POSITIVE_INFINITY
      delayMs = FIRST_PROBE_MS
    },
    recordFailure(failure) {
      if (isOpen) {
        // An attempt from before the opening says nothing new.
        if (!failure.isProbe) return
        failures += 1
        isProbing = false
        scheduleProbe(failure)
        delayMs = Math.min(delayMs * 2, LONGEST_PROBE_MS)
        return
      }
      if (failure.isRetry) return
      failing.add(failure.subject)
      failures = failing.size
      if (failures < FAILURES_TO_OPEN) return
      isOpen = true
      prefersNew = true
      scheduleProbe(failure)
      delayMs = FIRST_PROBE_MS * 2
    },
  }
}
