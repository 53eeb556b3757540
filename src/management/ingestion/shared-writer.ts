import { ClockSkewError, TimestampsAheadError } from '../../indexing/writer/clock-skew.ts'
import {
  LeaseLostError,
  type OrderIndex,
  WatchRunningError,
} from '../../indexing/writer/order-index.ts'
import { createWriter, type Writer } from '../../indexing/writer/writer.ts'
import { memoizeAsync } from '../../lib/memoize-async.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { IngestionUnavailable } from './ingestion-unavailable.ts'

export type OpenIndex = (options: {
  purpose: 'load'
  onDelay(reason: string): void
  signal: AbortSignal
}) => Promise<OrderIndex>

export interface SharedWriterOptions {
  openIndex: OpenIndex
  /** How long this process stays the writer without a call, in milliseconds. */
  idleMs?: number
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
/** Shorter than a graceful shutdown, which waits for the calls. */
const DEADLINE_MS = 10_000

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
  /** Resolves once another writer is admitted. */
  ended: PromiseWithResolvers<void>
}

/** Becomes the writer at the first call, and stops being it after a short time without calls. */
export function createSharedWriter({
  openIndex,
  idleMs = IDLE_MS,
  deadlineMs = DEADLINE_MS,
}: SharedWriterOptions): SharedWriter {
  /** New calls join it; `null` while there is none. */
  let current: Tenure | null = null
  let lastEnded: Promise<void> = Promise.resolve()

  function begin(): Tenure {
    const stop = new AbortController()
    const ended = Promise.withResolvers<void>()
    const onDelay = (reason: string) => {
      if (tenure.state === 'opening') tenure.delay = reason
    }
    const index = lastEnded.then(() => openIndex({ purpose: 'load', onDelay, signal: stop.signal }))
    const tenure: Tenure = {
      ...{ index, state: 'opening', delay: null, stop, ended },
      ...{ users: 0, idleTimer: undefined },
    }
    lastEnded = ended.promise
    const settle = (state: Tenure['state']) => {
      tenure.state = state
      if (state === 'failed') retire(tenure)
      if (tenure.users === 0) release(tenure)
    }
    index.then(
      () => settle('open'),
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

  /** Called without users. A wait for another writer continues, since it may need a whole lease. */
  function release(tenure: Tenure): void {
    if (current !== tenure) void end(tenure)
    else if (tenure.state === 'open') {
      tenure.idleTimer = setTimeout(() => void end(tenure), idleMs).unref()
    }
  }

  async function end(tenure: Tenure): Promise<void> {
    retire(tenure)
    try {
      const index = await tenure.index
      await index.close()
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
        clearTimeout(tenure.idleTimer)
        if (tenure.state === 'opening') tenure.stop.abort()
        else if (tenure.users === 0) release(tenure)
      }
      await lastEnded // Of a call whose client disconnected, once its write has ended.
    }),
  }
}

function toIngestionError(error: unknown, isAborted: boolean): unknown {
  if (!(error instanceof Error) || error instanceof IngestionUnavailable) return error
  const { message } = error
  const toUnavailable = (code: IngestionUnavailable['code']) =>
    new IngestionUnavailable(code, message, { cause: error })
  if (error instanceof WatchRunningError || error instanceof LeaseLostError) {
    return toUnavailable('other_writer')
  }
  if (error instanceof ClockSkewError || error instanceof TimestampsAheadError) {
    return toUnavailable('clock')
  }
  // The deadline interrupts the retries of an open index.
  return error instanceof Unavailable || isAborted ? toUnavailable('store') : error
}
