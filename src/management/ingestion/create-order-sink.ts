import type { ChangeStream } from '../../indexing/sources/change-stream.ts'
import { createDirectSink } from './direct-sink.ts'
import type { OrderSink } from './order-sink.ts'
import type { OpenIndex } from './shared-writer.ts'
import { createStreamSink } from './stream-sink.ts'

export interface OrderSinkOptions {
  /** Becomes the writer, where there is no stream. */
  openIndex: OpenIndex
  /** `null`: orders are written directly. */
  stream?: ChangeStream | null
}

/** Creates the sink of a process. Becomes the writer at the first call, and opens nothing before. */
export function createOrderSink({ openIndex, stream = null }: OrderSinkOptions): OrderSink {
  return stream === null ? createDirectSink({ openIndex }) : createStreamSink({ stream })
}
