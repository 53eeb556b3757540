import type { ChangeStream } from '../../indexing/sources/change-stream.ts'
import { createStreamAppender, ENQUEUE_BATCH } from '../../indexing/sources/enqueue.ts'
import { inBatches } from '../../indexing/sources/ndjson.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import { IngestionUnavailable } from './ingestion-unavailable.ts'
import type { OrderSink, SinkResult } from './order-sink.ts'

export interface StreamSinkOptions {
  stream: Pick<ChangeStream, 'append' | 'backlog' | 'close'>
  /** How long a call waits for the stream, in milliseconds. */
  deadlineMs?: number
}

/** Shorter than a graceful shutdown, which waits for the calls. */
const DEADLINE_MS = 10_000

/** Appends pushed orders to the change stream, which `index watch` writes to the index. */
export function createStreamSink({
  stream,
  deadlineMs = DEADLINE_MS,
}: StreamSinkOptions): OrderSink {
  return {
    isDeferred: true,
    async store(lines) {
      const signal = AbortSignal.timeout(deadlineMs)
      let isFull = false
      let delay = ''
      const append = createStreamAppender({
        stream,
        signal,
        onDelay(reason) {
          delay = reason
        },
        onFull(full) {
          isFull = full
        },
      })
      const results: SinkResult[] = []
      try {
        for await (const batch of inBatches([lines], ENQUEUE_BATCH)) {
          results.push(...(await append(batch)).map((error) => error ?? 'accepted'))
        }
      } catch (error) {
        if (!signal.aborted && !(error instanceof Unavailable)) throw error
        const code = isFull ? 'stream_full' : 'store'
        const { message } = error as Error
        throw new IngestionUnavailable(code, delay || message, { cause: error })
      }
      return results
    },
    async close() {
      stream.close()
    },
  }
}
