import type { ChangeStream } from '../../indexing/sources/change-stream.ts'
import { createDirectSink } from './direct-sink.ts'
import type { OrderSink } from './order-sink.ts'
import type { OpenIndex } from './shared-writer.ts'
import { createStreamSink } from './stream-sink.ts'

export interface OrderSinkOptions {
  /** Becomes the writer, where there is no stream. */
  openIndex: OpenIndex
  /** How often a waiting writer tries again, in milliseconds. */
  writerPollMs: number
  /** `null`: orders are written directly. */
  stream?: ChangeStream | null
}

/**
 * Creates the sink of a process. Becomes the writer at the first call, and opens nothing before.
 */
export function createOrderSink({ stream = null, ...options }: OrderSinkOptions): OrderSink {
  return stream === null ? createDirectSink(options) : createStreamSink({ stream })
}
