import { type Instrument, noopInstrument } from '../lib/instrument.ts'
import type { Limiter } from './limiter.ts'

export interface FallbackLimiterOptions {
  /** Decides as long as it answers in time. */
  shared: Limiter
  /** Decides for the rest; never fails. */
  local: Limiter
  /** How long a decision may take. */
  deadlineMs?: number
  /** While degraded, how often `shared` is tried. */
  probeIntervalMs?: number
  onFallbackDecision(decision: LimiterDecision): void
  /** Sees what `shared` is asked, until it answers or is too late; probes are not among it. */
  instrument?: Instrument<LimiterDecision>
  /** `cause` is what degraded it. */
  onStateChange?(degraded: boolean, cause?: unknown): void
  /** Makes a new connection: the present one says nothing any more. */
  reconnect?(): void
}

/** The calls of the port, as the metric names them. */
export type LimiterDecision = 'take' | 'blocked' | 'count_failure'

export interface FallbackLimiter extends Limiter {
  /** Whether `local` decides at present; asks `shared` where nothing says so. */
  isDegraded(): Promise<boolean>
  close(): void
}

/** No account's id: those have no tilde. */
const PROBE = '~probe'
/** Probes in a row without any answer, late ones and errors included: the connection is dead, not slow. */
const MAX_UNANSWERED_PROBES = 3

/**
 * A limiter that always decides, in time. The first failure or delay of `shared` opens the breaker: from
 * then on `local` decides at once, until a probe finds `shared` answering in time again. Never throws.
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
        return await instrument(decision, () => withDeadline(deadlineMs, () => call(shared)))
      } catch (error) {
        degrade(key, error)
      }
    }
    options.onFallbackDecision(decision)
    return call(local)
  }

  function degrade(key: string, cause: unknown) {
    if (degraded || closed) return
    degraded = true
    failedKey = key
    unansweredProbes = 0
    scheduleProbe()
    options.onStateChange?.(true, cause)
  }

  function scheduleProbe() {
    nextProbe = setTimeout(probe, probeIntervalMs).unref()
  }

  async function probe() {
    const isHealthy = await withDeadline(deadlineMs, runProbe).catch(() => false)
    if (closed) return
    if (isHealthy) {
      degraded = false
      options.onStateChange?.(false)
      return
    }
    if (unansweredProbes >= MAX_UNANSWERED_PROBES) options.reconnect?.()
    scheduleProbe()
  }

  /** Writes what concerns nobody, and reads where it failed: in a cluster that may be another node. */
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
      await withDeadline(deadlineMs, check).catch((error) => degrade(PROBE, error))
      return degraded
    },
    close() {
      closed = true
      clearTimeout(nextProbe)
    },
  }
}

/** Settles as the answer does, or rejects after `ms`; a later answer goes nowhere. */
function withDeadline<T>(ms: number, call: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onTimeout = () => reject(new Error(`no answer within ${ms} ms`))
    // A busy event loop runs timers before it reads the answer that is waiting in the socket. So once the
    // time is over it may read what there is: the deadline is for the other side, not for ourselves.
    const timer = setTimeout(() => setImmediate(onTimeout), ms).unref()
    call()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}
