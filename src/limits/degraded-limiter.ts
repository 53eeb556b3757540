import { type Observe, unobserved } from '../lib/observe.ts'
import type { Limiter } from './limiter.ts'

export interface DegradedLimiterOptions {
  /** Decides as long as it answers in time. */
  shared: Limiter
  /** Decides for the rest; never fails. */
  local: Limiter
  /** How long a decision may take. */
  deadlineMs?: number
  /** While degraded, how often `shared` is tried. */
  probeEveryMs?: number
  onDegradedDecision(decision: LimiterDecision): void
  /** Sees what `shared` is asked, until it answers or is too late; probes are not among it. */
  observe?: Observe<LimiterDecision>
  /** `cause` is what degraded it. */
  onStateChange?(degraded: boolean, cause?: unknown): void
  /** Makes a new connection: the present one says nothing any more. */
  reconnect?(): void
}

/** The calls of the port, as the metric names them. */
export type LimiterDecision = 'take' | 'blocked' | 'count_failure'

export interface DegradedLimiter extends Limiter {
  /** Whether `local` decides at present; asks `shared` where nothing says so. */
  isDegraded(): Promise<boolean>
  close(): void
}

/** No account's id: those have no tilde. */
const PROBE = '~probe'
/** Probes in a row without any answer, late ones and errors included: the connection is dead, not slow. */
const SILENT_PROBES = 3

/**
 * A limiter that always decides, in time. The first failure or delay of `shared` opens the breaker: from
 * then on `local` decides at once, until a probe finds `shared` answering in time again. Never throws.
 */
export function createDegradedLimiter(options: DegradedLimiterOptions): DegradedLimiter {
  const { shared, local, deadlineMs = 50, probeEveryMs = 100, observe = unobserved } = options
  let degraded = false
  let closed = false
  let degradedBy = ''
  let silentProbes = 0
  let nextProbe: NodeJS.Timeout | undefined

  async function decide<T>(
    decision: LimiterDecision,
    name: string,
    ask: (limiter: Limiter) => Promise<T>,
  ): Promise<T> {
    if (!degraded) {
      try {
        return await observe(decision, () => answerWithin(deadlineMs, () => ask(shared)))
      } catch (error) {
        degrade(name, error)
      }
    }
    options.onDegradedDecision(decision)
    return ask(local)
  }

  function degrade(name: string, cause: unknown) {
    if (degraded || closed) return
    degraded = true
    degradedBy = name
    silentProbes = 0
    probeLater()
    options.onStateChange?.(true, cause)
  }

  function probeLater() {
    nextProbe = setTimeout(probe, probeEveryMs).unref()
  }

  async function probe() {
    const isAnswered = await answerWithin(deadlineMs, askAsProbe).catch(() => false)
    if (closed) return
    if (isAnswered) {
      degraded = false
      options.onStateChange?.(false)
      return
    }
    if (silentProbes >= SILENT_PROBES) options.reconnect?.()
    probeLater()
  }

  /** Writes what concerns nobody, and reads where it failed: in a cluster that may be another node. */
  async function askAsProbe(): Promise<boolean> {
    silentProbes += 1
    try {
      await Promise.all([shared.take(PROBE), shared.blockedSeconds(degradedBy)])
      return true
    } finally {
      silentProbes = 0
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
      const ask = () => shared.blockedSeconds(PROBE)
      await answerWithin(deadlineMs, ask).catch((error) => degrade(PROBE, error))
      return degraded
    },
    close() {
      closed = true
      clearTimeout(nextProbe)
    },
  }
}

/** Settles as the answer does, or rejects after `ms`; a later answer goes nowhere. */
function answerWithin<T>(ms: number, ask: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const tooLate = () => reject(new Error(`no answer within ${ms} ms`))
    // A busy event loop runs timers before it reads the answer that is waiting in the socket. So once the
    // time is over it may read what there is: the deadline is for the other side, not for ourselves.
    const timer = setTimeout(() => setImmediate(tooLate), ms).unref()
    ask()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}
