import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import type { RequestScope } from '../../../../lib/request-scope.ts'
import { type OpenSearch, parseResponse, readRaw } from '../client.ts'
import { joinCalls } from '../joined-calls.ts'
import {
  type GetResponse,
  parseGetResponse,
  type StoredDocument,
  unreadableDocument,
} from './read-documents.ts'

export interface BatchedReadsOptions {
  client: OpenSearch
  index: string
  /** For each request, the response body included; the scope of a read may shorten it. */
  deadlineMs: number
  /** Wraps each request. */
  instrument(call: () => Promise<object[]>): Promise<object[]>
}

const MAX_BATCH = 32

/**
 * Returns a function that reads a document by id, as `readDocument` does. The reads of one turn of
 * the event loop share an `_mget`.
 */
export function createBatchedReads({
  client,
  index,
  deadlineMs,
  instrument,
}: BatchedReadsOptions): (id: string, scope: RequestScope) => Promise<StoredDocument | null> {
  const read = joinCalls<string, object>({
    maxCalls: MAX_BATCH,
    deadlineMs,
    send: (ids, scope) => instrument(() => getAll(ids, scope)),
  })

  /** The response for each document, in the order of the request. */
  async function getAll(ids: readonly string[], scope: RequestScope): Promise<object[]> {
    const [id = '', ...others] = ids
    const isSingle = others.length === 0
    const request = isSingle
      ? { path: `/${index}/_doc/${encodeURIComponent(id)}` }
      : { path: `/${index}/_mget`, body: JSON.stringify({ ids }) }
    const response: GetResponse = parseResponse(await readRaw(client, deadlineMs, request, scope))
    // Such as of a missing index. In an _mget each document has an error of its own.
    if (response.error !== undefined) throw unreadableDocument(index, response.error)
    const { docs } = isSingle ? { docs: [response] } : (response as { docs?: unknown })
    if (Array.isArray(docs) && ids.every((id, at) => docs[at]?._id === id)) return docs
    throw new Unavailable(`the response of OpenSearch lacks a document of ${index}`)
  }

  return async (id, scope) => parseGetResponse(index, await read(id, scope))
}
