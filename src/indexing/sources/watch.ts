import type { Clock } from '../../lib/clock.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { LeaseLost, type OrderIndex } from '../writing/order-index.ts'
import { createWriter } from '../writing/writer.ts'
import type { ChangeStream } from './change-stream.ts'
import { createOutage, type OutageEvents } from './outage.ts'
import { type BatchEvents, writeNextBatch } from './watch-batch.ts'

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
const ADOPT_MS = 5_000
const TRIM_MS = 5_000

/**
 * Brings the changes of a stream into the index, for as long as it is not told to stop: as the writer, or
 * as one who stands by until the writer is gone. An entry is acknowledged once it is written or parked, so
 * that it is delivered again whatever happens before. Neither a store nor a stream that is away ends it.
 * @throws Error for what waiting does not mend
 */
export async function watch(options: WatchOptions): Promise<void> {
  const { signal, events } = options
  const outage = createOutage(events)

  while (!signal.aborted) {
    const index = await open().catch(survive)
    if (index === undefined) continue
    events.onWriter(true)
    try {
      while (!signal.aborted) await follow(index).catch(surviveUnavailable)
    } catch (error) {
      if (error instanceof LeaseLost) events.onLeaseLost()
      else if (!signal.aborted) throw error // Else it was waiting, and was told to stop.
    } finally {
      events.onWriter(false)
      await index.close()
    }
  }

  async function open(): Promise<OrderIndex> {
    let onDelay = (reason: string) => {
      outage.ended()
      events.onStandby(reason)
    }
    const index = await options.openIndex({
      purpose: 'watch',
      onDelay: (reason) => onDelay(reason),
      signal,
    })
    onDelay = outage.began
    return index
  }

  async function survive(error: unknown): Promise<undefined> {
    if (signal.aborted) return
    if (error instanceof LeaseLost) events.onLeaseLost()
    else await surviveUnavailable(error)
  }

  async function surviveUnavailable(error: unknown): Promise<undefined> {
    if (!(error instanceof Unavailable)) throw error
    outage.began(error.message)
    await outage.pause(signal)
  }

  /** Reads and writes until it is told to stop; begins with what was delivered before. */
  async function follow(index: OrderIndex): Promise<void> {
    const { stream, monotonic } = options
    const writer = createWriter(index, options.clock)
    const onSlow = outage.began
    let adoptedAt = Number.NEGATIVE_INFINITY
    let trimmedAt = monotonic()
    while (!signal.aborted) {
      // Again and again, since a writer that was frozen and wakes up may read once more before it learns
      // that it is none: what it was given would be delivered to nobody else.
      if (monotonic() - adoptedAt >= ADOPT_MS) {
        const lost = await stream.adopt()
        if (lost.length > 0) events.onLost(lost)
        adoptedAt = monotonic()
      }
      const count = await writeNextBatch({ stream, index, writer, monotonic, events, onSlow })
      if (count === 0) adoptedAt = Number.NEGATIVE_INFINITY
      if (monotonic() - trimmedAt >= TRIM_MS) {
        await stream.trim()
        trimmedAt = monotonic()
      }
      outage.ended()
    }
  }
}
