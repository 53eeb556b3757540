import { LOAD_BATCH, prerenderLine } from '../../indexing/sources/load.ts'
import { inBatches } from '../../indexing/sources/ndjson.ts'
import type { WriteResult } from '../../indexing/writer/decide.ts'
import { writeChanges } from '../../indexing/writer/writer.ts'
import type { OrderSink } from './order-sink.ts'
import { createSharedWriter, type SharedWriterOptions } from './shared-writer.ts'

/** Writes pushed orders to the index: this process becomes the writer. */
export function createDirectSink(options: SharedWriterOptions): OrderSink {
  const { use, close } = createSharedWriter(options)
  return {
    isDeferred: false,
    async store(lines) {
      // Another call can commit meanwhile.
      for (const line of lines) prerenderLine(line)
      return await use(async (writer) => {
        const results: WriteResult[] = []
        for await (const batch of inBatches([lines], LOAD_BATCH)) {
          const changes = batch.map(({ result }) => result)
          results.push(...(await writeChanges(writer, changes, 'live')))
        }
        return results
      })
    },
    close,
  }
}
