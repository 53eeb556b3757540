import { createRetryBudget } from '../../../../lib/async/retry-until-deadline.ts'
import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import { write } from '../client.ts'
import { type DocumentState, documentState } from '../documents/document-state.ts'
import { INDEX_NOT_FOUND, missingIndex, NOT_FOUND } from '../errors.ts'
import type { IndexTarget } from '../search/document-search.ts'
import { firstChunk } from './bulk-request.ts'
import {
  BULK_FILTER_PATH,
  type BulkItemResult,
  describeResult,
  outcomeOf,
  parseBulkResponse,
} from './bulk-response.ts'

/** One write of a bulk: its action, and its document except for a deletion. */
export interface DocumentWrite {
  action: object
  source?: object
}

/** The new state of a document, or why nothing was written. */
export type WriteOutcome = DocumentState | 'conflict' | 'missing'

const DOCUMENT_MISSING = 'document_missing_exception'

/**
 * Sends the writes in few large requests. Those that met a full queue are sent again within the
 * deadline of one request.
 * @throws Unavailable when the outcome of a write is unknown; Error when OpenSearch rejects one
 */
export async function sendWrites(
  { client, index, deadlineMs }: IndexTarget,
  writes: readonly DocumentWrite[],
): Promise<WriteOutcome[]> {
  const outcomes = new Map<DocumentWrite, WriteOutcome>()
  const budget = createRetryBudget({
    deadlineMs,
    backoff: { firstMs: 50 },
    activity: 'OpenSearch rejected bulks for full queues',
  })
  for (let pending = writes; pending.length > 0; ) {
    const lines = firstChunk(pending, linesOf)
    const sent = pending.slice(0, lines.length)
    const results = await sendChunk(lines)
    const rejected = sent.filter((documentWrite, at) => {
      const result = results[at]
      const outcome = result && toOutcome(result)
      if (outcome !== undefined) outcomes.set(documentWrite, outcome)
      return outcome === undefined
    })
    pending = [...rejected, ...pending.slice(sent.length)]
    if (rejected.length > 0) {
      await budget.backOff(new Unavailable(`the write queue of OpenSearch is full for ${index}`))
    }
  }
  return writes.map((documentWrite) => outcomes.get(documentWrite) ?? 'missing')

  async function sendChunk(lines: readonly string[]): Promise<BulkItemResult[]> {
    const request = {
      index,
      require_alias: true,
      filter_path: BULK_FILTER_PATH,
      body: lines.join('') as never,
    }
    const response = await write(deadlineMs, (options) => client.bulk(request, options))
    return parseBulkResponse(response, lines.length)
  }

  /** `undefined` when the write can be sent again. */
  function toOutcome(result: BulkItemResult): WriteOutcome | undefined {
    const { status, error } = result
    const state = documentState(result)
    const kind = outcomeOf(result)
    if (kind === 'overloaded') return undefined
    if (kind === 'conflict') return 'conflict'
    if (status === NOT_FOUND && (error === undefined || error.type === DOCUMENT_MISSING))
      return 'missing'
    if (kind === 'accepted' && state !== null) return state
    if (error?.type === INDEX_NOT_FOUND) throw missingIndex(error.reason)
    const description = `OpenSearch did not write a document of ${index}: ${describeResult(result)}`
    throw kind === 'unmapped' || kind === 'invalid'
      ? new Error(description)
      : new Unavailable(description)
  }
}

function linesOf({ action, source }: DocumentWrite): string {
  const line = `${JSON.stringify(action)}\n`
  return source === undefined ? line : `${line}${JSON.stringify(source)}\n`
}
