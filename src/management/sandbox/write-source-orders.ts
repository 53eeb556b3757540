import { isValidationError, parseOrder } from '../../indexing/projection/change.ts'
import type { ParsedLine } from '../../indexing/sources/ndjson.ts'
import type { OrderSink } from '../ingestion/order-sink.ts'
import type { WriteSourceOrders } from './sandbox-management.ts'

/** Returns a {@link WriteSourceOrders} that sends the orders to a sink. */
export function createSinkWrite(sink: Pick<OrderSink, 'store'>): WriteSourceOrders {
  return async (sources) => {
    const results = await sink.store(sources.map((source, at) => lineOf(at + 1, source)))
    for (const result of results) {
      if (typeof result === 'string') continue
      throw new Error(`an order of a sandbox was rejected: ${result.path}: ${result.reason}`)
    }
  }
}

function lineOf(lineNumber: number, source: object): ParsedLine {
  const line = Buffer.from(JSON.stringify(source))
  const result = parseOrder(line)
  if (result === null || isValidationError(result)) {
    throw new Error(`a sandbox made an invalid order: ${result?.path} ${result?.reason}`)
  }
  return { lineNumber, bytes: line.length, line, result }
}
