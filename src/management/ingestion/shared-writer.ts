import type { OrderIndex } from '../../indexing/writer/order-index.ts'
import { createWriter, type Writer } from '../../indexing/writer/writer.ts'
import { interruptiblePause } from '../../lib/async/interruptible-pause.ts'
import { memoizeAsync } from '../../lib/async/memoize-async.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { IngestionUnavailable, toIngestionError } from './ingestion-unavailable.ts'

export type OpenIndex = (options: {
  purpose: 'load'
  onDelay(reason: string): void
  signal: AbortSignal
}) => Promise<OrderIndex>

export interface SharedWriterOptions {
  openIndex: OpenIndex
  /** How often a waiting writer tries again, in milliseconds. */
  writerPollMs: number
  /** How long this process stays the writer without a call, in milliseconds. */
  idleMs?: number
  /** How long calls may join a tenure after it began, in milliseconds. */
  maxAgeMs?: number
  /** How long a call waits for another writer or for the store, in milliseconds. */
  deadlineMs?: number
}

/** The writer of this process, shared by concurrent calls. */
export interface SharedWriter {
  /**
   * Becomes the writer unless it already is, and runs `work`.
   * @throws IngestionUnavailable
   */
  use<T>(work: (writer: Writer) => Promise<T>): Promise<T>
  /** Waits for the work in progress, and admits another writer. */
  close(): Promise<void>
}

/** Short, because a load or a watch of another process waits for it. */
const IDLE_MS = 2_000
/** Half of the deadline: the rest is for the calls in progress, which another process waits for. */
const MAX_AGE_MS = 5_000
/** Shorter than a graceful shutdown, which waits for the calls. */
const DEADLINE_MS = 10_000
/**
 * The pause between two tenures, in polls of a waiting writer: one, and as long to read the lock.
 */
const TURN_POLLS = 2

/** The time of this process as the writer, from the wait for another one. */
interface Tenure {
  index: Promise<OrderIndex>
  state: 'opening' | 'open' | 'failed'
  /** The other writer that it waits for; `null` without one. */
  delay: string | null
  /** Ends the waits for another writer and for the store. */
  stop: AbortController
  users: number
  idleTimer: NodeJS.Timeout | undefined
  ageTimer: NodeJS.Timeout | undefined
  /** Resolves once another writer is admitted. */
  ended: PromiseWithResolvers<void>
}

/**
 * Becomes the writer at the first call. Stops being it after a short time without calls, and at a
 * maximum age also between calls, so that another writer gets its turn.
 */
export function createSharedWriter({
  openIndex,
  writerPollMs,
  idleMs = IDLE_MS,
  maxAgeMs = MAX_AGE_MS,
  deadlineMs = DEADLINE_MS,
}: SharedWriterOptions): SharedWriter {
  /** New calls join it; `null` while there is none. */
  let current: Tenure | null = null
  let lastEnded: Promise<void> = Promise.resolve()
  /** The end of the pause in which a waiting writer tries again, by the monotonic clock. */
  let nextOpenAt = 0

  async function openNext(options: Parameters<OpenIndex>[0]): Promise<OrderIndex> {
    await lastEnded
    const waitMs = nextOpenAt - monotonicClock()
    if (waitMs > 0) await interruptiblePause(waitMs, options.signal, 'other writers had their turn')
    return await openIndex(options)
  }

  function begin(): Tenure {
    const stop = new AbortController()
    const ended = Promise.withResolvers<void>()
    const onDelay = (reason: string) => {
      if (tenure.state === 'opening') tenure.delay = reason
    }
    const index = openNext({ purpose: 'load', onDelay, signal: stop.signal })
    const tenure: Tenure = {
      ...{ index, state: 'opening', delay: null, stop, ended },
      ...{ users: 0, idleTimer: undefined, ageTimer: undefined },
    }
    lastEnded = ended.promise
    const settle = (state: Tenure['state']) => {
      tenure.state = state
      if (state === 'failed') retire(tenure)
      if (tenure.users === 0) release(tenure)
    }
    index.then(
      () => {
        tenure.ageTimer = setTimeout(() => expire(tenure), maxAgeMs).unref()
        settle('open')
      },
      () => settle('failed'),
    )
    return tenure
  }

  function join(): Tenure {
    current ??= begin()
    clearTimeout(current.idleTimer)
    current.users += 1
    return current
  }

  /** Later calls begin another tenure, which starts once this one has ended. */
  function retire(tenure: Tenure): void {
    if (current === tenure) current = null
  }

  function expire(tenure: Tenure): void {
    retire(tenure)
    if (tenure.users === 0) release(tenure)
  }

  /** Called without users. A wait for another writer continues, since it may need a whole lease. */
  function release(tenure: Tenure): void {
    if (current !== tenure) void end(tenure)
    else if (tenure.state === 'open') {
      tenure.idleTimer = setTimeout(() => void end(tenure), idleMs).unref()
    }
  }

  async function end(tenure: Tenure): Promise<void> {
    retire(tenure)
    clearTimeout(tenure.idleTimer)
    clearTimeout(tenure.ageTimer)
    try {
      const index = await tenure.index
      await index.close()
      nextOpenAt = monotonicClock() + TURN_POLLS * writerPollMs
    } catch {
      // It never opened; or the close failed, and the lease expires.
    } finally {
      tenure.ended.resolve()
    }
  }

  /** Rejects once the call has waited too long for the tenure to begin. */
  function startDeadline(tenure: Tenure) {
    const expired = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      if (tenure.state === 'opening') {
        const code = tenure.delay === null ? 'store' : 'other_writer'
        const message = tenure.delay ?? 'the store has not admitted this writer yet'
        expired.reject(new IngestionUnavailable(code, message))
      } else {
        retire(tenure)
        tenure.stop.abort()
      }
    }, deadlineMs)
    return { expired: expired.promise, clear: () => clearTimeout(timer) }
  }

  return {
    async use(work) {
      const tenure = join()
      const { expired, clear } = startDeadline(tenure)
      try {
        const index = await Promise.race([tenure.index, expired])
        return await work(createWriter(index, index.now))
      } catch (error) {
        // After a failed write, the next call starts with a new lease.
        if (tenure.state !== 'opening') retire(tenure)
        throw toIngestionError(error, tenure.stop.signal.aborted)
      } finally {
        clear()
        tenure.users -= 1
        if (tenure.users === 0) release(tenure)
      }
    },
    close: memoizeAsync(async () => {
      const tenure = current
      if (tenure !== null) {
        retire(tenure)
        if (tenure.state === 'opening') tenure.stop.abort()
        else if (tenure.users === 0) release(tenure)
      }
      await lastEnded // Of a call whose client disconnected, once its write has ended.
    }),
  }
}
