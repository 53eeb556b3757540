import { isValidationError } from '../../indexing/projection/change.ts'
import type { OrderSink, SinkResult } from './order-sink.ts'
import { orderIdOf, parseSourceLines, type SourceOrdersFormat } from './source-lines.ts'

export const lineResults = ['written', 'unchanged', 'older', 'accepted', 'refused'] as const
export type LineResult = (typeof lineResults)[number]

/** The result of one line, as the API returns it. `path` and `reason`: of a refused line. */
export interface SourceOrderResult {
  line: number
  /** `null` when the line has no valid order id. */
  id: string | null
  result: LineResult
  path?: string
  reason?: string
}

export interface SourceOrderResults {
  object: 'source_order_results'
  /** How many lines were refused. */
  refused: number
  /** In the order of the lines. */
  data: SourceOrderResult[]
}

/** Receives the source orders that the platform pushes. */
export interface Ingestion {
  /** Whether `index watch` writes the orders after the response. */
  isDeferred: boolean
  /**
   * Writes or appends the source orders of a body. A refused line does not stop the others. After
   * an error nothing is acknowledged, and sending the same body again is harmless.
   * @throws ManagementError `too_many_lines`, `invalid_list`; IngestionUnavailable
   */
  ingest(body: Buffer, format: SourceOrdersFormat): Promise<SourceOrderResults>
}

/** Creates the ingestion into a sink. */
export function createIngestion(sink: Pick<OrderSink, 'isDeferred' | 'store'>): Ingestion {
  return {
    isDeferred: sink.isDeferred,
    async ingest(body, format) {
      const lines = await parseSourceLines(body, format)
      const rejected = lines.flatMap(({ result }) => (isValidationError(result) ? [result] : []))
      // Without a valid line there is no reason to become the writer.
      const results = rejected.length === lines.length ? rejected : await sink.store(lines)
      const data = lines.map((line, position) => {
        const id = orderIdOf(line)
        return { line: line.lineNumber, id, ...resultJson(results[position]) }
      })
      const refused = data.filter(({ result }) => result === 'refused').length
      return { object: 'source_order_results', refused, data }
    },
  }
}

function resultJson(
  result: SinkResult | undefined,
): Pick<SourceOrderResult, 'result' | 'path' | 'reason'> {
  if (result === undefined) throw new Error('the sink returned no result for a line')
  return typeof result === 'string' ? { result } : { result: 'refused', ...result }
}
