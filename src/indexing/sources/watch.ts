import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs } from '../../lib/async/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import type { OrderIndex } from '../writer/order-index.ts'
import { createWriter } from '../writer/writer.ts'
import { LeaseLostError } from '../writer/writer-errors.ts'
import type { ChangeStream } from './change-stream.ts'
import { createReportedEntries } from './reported-entries.ts'
import { type BatchEvents, processNextBatch } from './watch-batch.ts'

export interface WatchEvents extends BatchEvents {
  /** Called once per outage, when a dependency first fails. */
  onOutage(reason: string): void
  onRecovered(): void
  /** Called with the reason why a standby waits. */
  onStandby(reason: string): void
  /** This process became the writer, or stopped being it. */
  onWriter(isWriter: boolean): void
  /** Another process took over. */
  onLeaseLost(): void
}

export interface WatchOptions {
  openIndex(options: {
    purpose: 'watch'
    onDelay(reason: string): void
    signal: AbortSignal
  }): Promise<OrderIndex>
  stream: ChangeStream
  monotonic: Clock
  /** Ends the watch after the current batch. */
  signal: AbortSignal
  events: WatchEvents
}

/** How often pending entries of other consumers are claimed while the stream is never idle. */
const CLAIM_INTERVAL_MS = 5_000
const TRIM_INTERVAL_MS = 5_000

/**
 * Writes the changes of a stream to the index until `signal` aborts: as the writer, or as a standby
 * until the writer ends. An entry is acknowledged once it is written or a dead letter, so delivery
 * is at least once. An unavailable store or stream does not end the watch.
 * @throws Error for a failure that a retry cannot correct
 */
export async function watch(options: WatchOptions): Promise<void> {
  const { signal, events } = options
  const outage = createOutageTracker(events)
  const reported = createReportedEntries()

  while (!signal.aborted) {
    const index = await open().catch(handleOpenError)
    if (index === undefined) continue
    events.onWriter(true)
    try {
      while (!signal.aborted) await consumeStream(index).catch(retryUnavailable)
    } catch (error) {
      if (error instanceof LeaseLostError) events.onLeaseLost()
      else if (!signal.aborted) throw error // Otherwise the abort interrupted a wait.
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

  /** Reads and writes until the signal aborts, beginning with the entries delivered before. */
  async function consumeStream(index: OrderIndex): Promise<void> {
    const { stream, monotonic } = options
    const writer = createWriter(index, index.now)
    const onSlow = outage.reportFailure
    let claimedAt = Number.NEGATIVE_INFINITY
    let trimmedAt = monotonic()
    while (!signal.aborted) {
      // Repeated, since a paused former writer may read once more before it detects the lost lease.
      // Only a claim delivers those entries again.
      if (monotonic() - claimedAt >= CLAIM_INTERVAL_MS) {
        const lost = reported.firstLost(await stream.claimPending())
        if (lost.length > 0) events.onLost(lost)
        claimedAt = monotonic()
      }
      const batch = { stream, index, writer, reported, monotonic, events, onSlow }
      const count = await processNextBatch(batch)
      if (count === 0) claimedAt = Number.NEGATIVE_INFINITY
      if (monotonic() - trimmedAt >= TRIM_INTERVAL_MS) {
        await stream.trim()
        trimmedAt = monotonic()
      }
      outage.reportSuccess()
    }
  }
}

/** Tracks an outage of any dependency, from its first failure to the next success. */
interface OutageTracker {
  reportFailure(reason: string): void
  reportSuccess(): void
  /** Pauses with exponential backoff until the next success. `signal` ends the pause. */
  backOff(signal: AbortSignal): Promise<void>
}

function createOutageTracker({
  onOutage,
  onRecovered,
}: Pick<WatchEvents, 'onOutage' | 'onRecovered'>): OutageTracker {
  let isOngoing = false
  let failures = 0

  return {
    reportFailure(reason) {
      if (!isOngoing) onOutage(reason)
      isOngoing = true
    },
    reportSuccess() {
      if (isOngoing) onRecovered()
      isOngoing = false
      failures = 0
    },
    async backOff(signal) {
      failures++
      await pause(backoffMs(failures), undefined, { signal }).catch(() => {})
    },
  }
}
