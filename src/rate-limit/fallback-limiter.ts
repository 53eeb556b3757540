import { type Instrument, noopInstrument } from '../lib/instrument.ts'
import type { Limiter, LimiterDecision } from './limiter.ts'

export interface FallbackLimiterOptions {
  /** Decides while it responds in time. */
  shared: Limiter
  /** Decides otherwise; never fails. */
  local: Limiter
  /** Maximum duration of a decision by `shared`. */
  deadlineMs?: number
  /** Interval between probes of `shared` while degraded. */
  probeIntervalMs?: number
  onFallbackDecision(decision: LimiterDecision): void
  /** Wraps each decision by `shared` until its deadline, probes excluded. */
  instrument?: Instrument<LimiterDecision>
  /** Receives the error that opened the circuit breaker. */
  onDegraded?(error: unknown): void
  onRecovered?(): void
  /** Replaces an unresponsive connection. */
  reconnect?(): void
}

export interface FallbackLimiter extends Limiter {
  /** Whether `local` decides now. Queries `shared` to detect an outage without traffic. */
  isDegraded(): Promise<boolean>
  close(): void
}

/** The tilde prevents a collision with the id of an account. */
const PROBE = '~probe'
/**
 * After this many consecutive probes without even a late reply or an error, the connection is dead.
 */
const MAX_UNANSWERED_PROBES = 3

/**
 * A limiter that always decides in time and never throws. The first failure or timeout of `shared`
 * opens a circuit breaker. Then `local` decides, until a probe of `shared` succeeds in time.
 */
export function createFallbackLimiter(options: FallbackLimiterOptions): FallbackLimiter {
  const {
    shared,
    local,
    deadlineMs = 50,
    probeIntervalMs = 100,
    instrument = noopInstrument,
  } = options
  let degraded = false
  let closed = false
  let failedKey = ''
  let unansweredProbes = 0
  let nextProbe: NodeJS.Timeout | undefined

  async function decide<T>(
    decision: LimiterDecision,
    key: string,
    call: (limiter: Limiter) => Promise<T>,
  ): Promise<T> {
    if (!degraded) {
      try {
        return await instrument(decision, () => withinTurnDeadline(() => call(shared), deadlineMs))
      } catch (error) {
        degrade(key, error)
      }
    }
    options.onFallbackDecision(decision)
    return call(local)
  }

  function degrade(key: string, error: unknown) {
    if (degraded || closed) return
    degraded = true
    failedKey = key
    unansweredProbes = 0
    scheduleProbe()
    options.onDegraded?.(error)
  }

  function scheduleProbe() {
    nextProbe = setTimeout(probe, probeIntervalMs).unref()
  }

  async function probe() {
    const isHealthy = await withinTurnDeadline(runProbe, deadlineMs).catch(() => false)
    if (closed) return
    if (isHealthy) {
      degraded = false
      options.onRecovered?.()
      return
    }
    if (unansweredProbes >= MAX_UNANSWERED_PROBES) options.reconnect?.()
    scheduleProbe()
  }

  /** Writes a reserved key, and reads the key that failed, which may be on another cluster node. */
  async function runProbe(): Promise<boolean> {
    unansweredProbes += 1
    try {
      await Promise.all([shared.take(PROBE), shared.blockedSeconds(failedKey)])
      return true
    } finally {
      unansweredProbes = 0
    }
  }

  return {
    take: (accountId) => decide('take', accountId, (limiter) => limiter.take(accountId)),
    blockedSeconds: (address) =>
      decide('blocked', address, (limiter) => limiter.blockedSeconds(address)),
    countFailure: (address) =>
      decide('count_failure', address, (limiter) => limiter.countFailure(address)),
    async isDegraded() {
      if (degraded) return true
      const check = () => shared.blockedSeconds(PROBE)
      await withinTurnDeadline(check, deadlineMs).catch((error) => degrade(PROBE, error))
      return degraded
    },
    close() {
      closed = true
      clearTimeout(nextProbe)
    },
  }
}

/**
 * Rejects after `ms`, and discards a later reply. Queries leave at the end of a turn of the event
 * loop, so the time starts there: a long turn is no fault of `shared`.
 */
function withinTurnDeadline<T>(call: () => Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const onTimeout = () => reject(new Error(`no response within ${ms} ms`))
    const turnEnd = setImmediate(() => {
      // A busy event loop runs timers before it reads a reply that waits in the socket.
      // `setImmediate` lets it read first, so that only a slow `shared` exceeds the deadline.
      timer = setTimeout(() => setImmediate(onTimeout), ms).unref()
    })
    call()
      .then(resolve, reject)
      .finally(() => {
        clearImmediate(turnEnd)
        clearTimeout(timer)
      })
  })
}
