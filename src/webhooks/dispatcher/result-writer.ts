import { setTimeout as pause } from 'node:timers/promises'
import type { StoredDelivery } from '../deliveries/delivery.ts'
import type { DeliveryStore } from '../deliveries/delivery-store.ts'
import type { CallSource } from './outage.ts'

/** A delivery with the result of its attempt. */
export interface DeliveryResult<Context> {
  context: Context
  next: StoredDelivery
}

/** Stores results in batches. */
export interface ResultWriter<Context> {
  add(result: DeliveryResult<Context>): void
  /** Results that are not stored yet. */
  pending(): number
  /** Stores everything; rejects when one attempt at it fails. */
  drain(): Promise<void>
}

export interface ResultWriterOptions<Context> {
  /** Returns each delivery as it is stored then. */
  save: DeliveryStore['save']
  /**
   * `saved`: each as it is stored now, which another change may have replaced; `null` if removed.
   */
  onSaved(
    batch: readonly DeliveryResult<Context>[],
    saved: readonly (StoredDelivery | null)[],
  ): void
  source: CallSource
  /** Ends the repetition of failed writes; {@link ResultWriter.drain} then stores the rest. */
  signal: AbortSignal
}

/** Results of about the same time share a write. Short, since an order waits for its result. */
const COLLECT_MS = 10
const MAX_BATCH = 256

/** Creates a writer. While a batch is being stored, the next one collects. */
export function createResultWriter<Context>({
  save,
  onSaved,
  source,
  signal,
}: ResultWriterOptions<Context>): ResultWriter<Context> {
  const results: DeliveryResult<Context>[] = []
  let saving = 0
  let flushing: Promise<void> | null = null

  async function saveBatch(): Promise<void> {
    const batch = results.splice(0, MAX_BATCH)
    saving = batch.length
    const saved = await save(batch.map(({ next }) => next)).catch((error) => {
      saving = 0
      results.unshift(...batch)
      throw error
    })
    saving = 0
    onSaved(batch, saved)
  }

  async function flush(): Promise<void> {
    await pause(COLLECT_MS)
    while (results.length > 0) {
      const failure = await saveBatch().then(
        () => null,
        (error: unknown) => ({ error }),
      )
      if (failure === null) source.succeed()
      else await source.fail(failure.error)
      if (failure !== null && signal.aborted) return
    }
  }

  function startFlush(): void {
    if (flushing !== null) return
    flushing = flush().finally(() => {
      flushing = null
      if (results.length > 0 && !signal.aborted) startFlush()
    })
  }

  return {
    add(result) {
      results.push(result)
      startFlush()
    },
    pending: () => results.length + saving,
    async drain() {
      await flushing
      while (results.length > 0) await saveBatch()
    },
  }
}
