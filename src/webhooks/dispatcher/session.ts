import { setTimeout as pause, setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import type { DispatcherLease } from '../webhook-stores.ts'
import type { DispatcherOptions } from './dispatcher-options.ts'
import { expireAndPurge } from './housekeeping.ts'
import { createSessionParts } from './session-parts.ts'

/** The work of a dispatcher, from the acquisition of its lease to the loss or release. */
export interface Session {
  /**
   * Delivers while the lease is held and the signal has not aborted. Then it waits for the requests
   * in flight and stores their results, for a bounded time.
   * @throws Error for a failure that a retry cannot correct
   */
  run(): Promise<void>
  usage(): SessionUsage
}

/** What a dispatcher has in memory. */
export interface SessionUsage {
  /** Endpoints with work. */
  lanes: number
  /** Deliveries that wait in memory. */
  buffered: number
  inFlight: number
  /** Of endpoints that fail, are slow, or have never succeeded. */
  restrictedInFlight: number
}

/** How often a stop checks whether requests are in flight. */
const DRAIN_MS = 10
/** A request takes longer than this, so a check of this age is as good as one right before it. */
const LEASE_CHECK_MS = 5
/** A stop waits this long for the last results to be stored. */
const STORE_MS = 5_000

/** Creates a session that does not run yet. `signal` ends it. */
export function createSession(
  options: DispatcherOptions,
  lease: DispatcherLease,
  signal: AbortSignal,
): Session {
  const { stores, clock, monotonic, settings } = options
  const ended = new AbortController()
  const ending = AbortSignal.any([signal, ended.signal])
  let fatal: { error: unknown } | null = null

  function onFatal(error: unknown): void {
    fatal ??= { error }
    ended.abort()
  }

  /** The lease is a file or a document with an expiry: both cost more than the memory of it. */
  const isHeld = memoize(() => lease.isHeld(), LEASE_CHECK_MS, monotonic)
  const maySend = () => !ending.aborted && isHeld()
  const parts = createSessionParts({ ...options, maySend, signal: ending, onFatal })
  const { directory, lifecycle, lanes, loop, health, reader, results } = parts
  let isLoaded = false

  /** Repeats `work`, with pauses and after failures with backoff, until the session ends. */
  async function repeat(pauseMs: number, work: () => Promise<void>): Promise<void> {
    const source = parts.createSource()
    while (!ending.aborted) {
      try {
        await work()
        source.succeed()
        await pause(pauseMs, undefined, { signal: ending }).catch(() => {})
      } catch (error) {
        await source.fail(error)
      }
    }
  }

  /** Creates work that is due once per interval since `last`. A failure leaves it due. */
  function every(intervalMs: number, last: number, work: () => Promise<void>): () => Promise<void> {
    let doneAt = last
    return async () => {
      const now = monotonic()
      if (now - doneAt < intervalMs) return
      await work()
      doneAt = now
    }
  }

  async function refreshEndpoints(): Promise<void> {
    const changed = await directory.refresh(isLoaded ? settings.refreshMs : 0)
    if (isLoaded) lifecycle.apply(changed)
    else await lifecycle.load()
    isLoaded = true
  }

  async function readFeed(): Promise<void> {
    do {
      await refreshEndpoints()
      await yieldToOthers()
    } while (!ending.aborted && (await parts.fanOut(refreshEndpoints)))
  }

  async function checkHealth(): Promise<void> {
    if (isLoaded) parts.checkFailing()
    await health.flush()
  }

  const { reloadMs, housekeepingMs, retentionMs } = settings
  const reload = every(reloadMs, monotonic(), () => lifecycle.load())
  const purge = every(housekeepingMs, Number.NEGATIVE_INFINITY, () =>
    expireAndPurge({ stores, retentionMs }, clock()),
  )

  function tick(): void {
    if (!lease.isHeld()) ended.abort()
    lanes.tick()
    loop.tick()
  }

  /** Waits for reads, and for responses to the requests in flight. */
  async function finish(loops: Promise<unknown>, bound: AbortSignal): Promise<void> {
    await loops
    await reader.stop()
    while (loop.inFlight() > 0 && !bound.aborted) await pause(DRAIN_MS)
  }

  /** What is not stored is sent again under the same id. */
  async function store(): Promise<void> {
    try {
      await results.drain()
      await health.flush()
    } catch (error) {
      if (!(error instanceof Unavailable)) onFatal(error)
    }
    await lifecycle.settle()
  }

  return {
    async run() {
      const ticks = setInterval(tick, settings.tickMs)
      const loops = Promise.all([
        repeat(settings.pollMs, readFeed),
        repeat(settings.healthMs, checkHealth),
        repeat(settings.healthMs, reload),
        repeat(settings.healthMs, purge),
      ])
      await aborted(ending)
      clearInterval(ticks)
      await within(settings.stopMs, (bound) => finish(loops, bound))
      await within(STORE_MS, store)
      loop.stop()
      if (fatal !== null) throw (fatal as { error: unknown }).error
    },
    usage: () => ({
      lanes: lanes.size(),
      buffered: parts.bufferUse.count,
      inFlight: parts.scheduler.inFlight(),
      restrictedInFlight: parts.scheduler.restrictedInFlight(),
    }),
  }
}

/** Repeats a call once its last result is this old. */
function memoize<T>(call: () => T, maxAgeMs: number, monotonic: Clock): () => T {
  let calledAt = monotonic()
  let result = call()
  return () => {
    const now = monotonic()
    if (now - calledAt < maxAgeMs) return result
    calledAt = now
    result = call()
    return result
  }
}

/** Waits for work, at most this long. `bound` aborts at the end. */
async function within(ms: number, work: (bound: AbortSignal) => Promise<void>): Promise<void> {
  const bound = new AbortController()
  const timeout = pause(ms, undefined, { signal: bound.signal }).catch(() => {})
  await Promise.race([work(bound.signal), timeout])
  bound.abort()
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
