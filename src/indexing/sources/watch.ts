import type { Clock } from '../../lib/clock.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { LeaseLostError, type OrderIndex } from '../writer/order-index.ts'
import { createWriter } from '../writer/writer.ts'
import type { ChangeStream } from './change-stream.ts'
import { createOutageTracker, type OutageEvents } from './outage.ts'
import { type BatchEvents, processNextBatch } from './watch-batch.ts'

export interface WatchEvents extends OutageEvents, BatchEvents {
  /** What a standby waits for. */
  onStandby(reason: string): void
  /** This is the one that writes now, or no more. */
  onWriter(isWriter: boolean): void
  /** Another one took over. */
  onLeaseLost(): void
}

export interface WatchOptions {
  openIndex(options: {
    purpose: 'watch'
    onDelay(reason: string): void
    signal: AbortSignal
  }): Promise<OrderIndex>
  stream: ChangeStream
  /** Epoch milliseconds. */
  clock: Clock
  monotonic: Clock
  /** Ends it, after the batch that is under way. */
  signal: AbortSignal
  events: WatchEvents
}

/** How often what others were given is adopted, where the stream is never idle. */
const CLAIM_INTERVAL_MS = 5_000
const TRIM_INTERVAL_MS = 5_000

/**
 * Brings the changes of a stream into the index, for as long as it is not told to stop: as the writer, or
 * as one who stands by until the writer is gone. An entry is acknowledged once it is written or parked, so
 * that it is delivered again whatever happens before. Neither a store nor a stream that is away ends it.
 * @throws Error for what waiting does not mend
 */
export async function watch(options: WatchOptions): Promise<void> {
  const { signal, events } = options
  const outage = createOutageTracker(events)

  while (!signal.aborted) {
    const index = await open().catch(handleOpenError)
    if (index === undefined) continue
    events.onWriter(true)
    try {
      while (!signal.aborted) await consumeStream(index).catch(retryUnavailable)
    } catch (error) {
      if (error instanceof LeaseLostError) events.onLeaseLost()
      else if (!signal.aborted) throw error // Else it was waiting, and was told to stop.
    } finally {
      events.onWriter(false)
      await index.close()
    }
  }

  async function open(): Promise<OrderIndex> {
    let onDelay = (reason: string) => {
      outage.reportSuccess()
      events.onStandby(reason)
    }
    const index = await options.openIndex({
      purpose: 'watch',
      onDelay: (reason) => onDelay(reason),
      signal,
    })
    onDelay = outage.reportFailure
    return index
  }

  async function handleOpenError(error: unknown): Promise<undefined> {
    if (signal.aborted) return
    if (error instanceof LeaseLostError) events.onLeaseLost()
    else await retryUnavailable(error)
  }

  async function retryUnavailable(error: unknown): Promise<undefined> {
    if (!(error instanceof Unavailable)) throw error
    outage.reportFailure(error.message)
    await outage.backOff(signal)
  }

  /** Reads and writes until it is told to stop; begins with what was delivered before. */
  async function consumeStream(index: OrderIndex): Promise<void> {
    const { stream, monotonic } = options
    const writer = createWriter(index, options.clock)
    const onSlow = outage.reportFailure
    let claimedAt = Number.NEGATIVE_INFINITY
    let trimmedAt = monotonic()
    while (!signal.aborted) {
      // Again and again, since a writer that was frozen and wakes up may read once more before it learns
      // that it is none: what it was given would be delivered to nobody else.
      if (monotonic() - claimedAt >= CLAIM_INTERVAL_MS) {
        const lost = await stream.claimPending()
        if (lost.length > 0) events.onLost(lost)
        claimedAt = monotonic()
      }
      const count = await processNextBatch({ stream, index, writer, monotonic, events, onSlow })
      if (count === 0) claimedAt = Number.NEGATIVE_INFINITY
      if (monotonic() - trimmedAt >= TRIM_INTERVAL_MS) {
        await stream.trim()
        trimmedAt = monotonic()
      }
      outage.reportSuccess()
    }
  }
}
