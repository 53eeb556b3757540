import { callTimeoutMs, type RequestScope, unbounded } from '../../../lib/request-scope.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, parseResponse, readRaw } from './client.ts'
import { parseGetResponse, type StoredDocument } from './documents.ts'

export interface BatchedReadsOptions {
  client: OpenSearch
  index: string
  /** For each request, the response body included; the scope of a read may shorten it. */
  deadlineMs: number
  /** Wraps each request. */
  instrument(call: () => Promise<object[]>): Promise<object[]>
}

interface PendingRead {
  id: string
  timeoutMs: number
  resolve(response: object): void
  reject(error: unknown): void
}

/** Bounds how many reads one slow response delays. */
const MAX_BATCH = 32

/**
 * Returns a function that reads a document by id, as `readDocument` does. The reads of one turn of
 * the event loop share an `_mget`, which costs much less CPU time than a request each. Each read
 * ends at its own timeout, and the request at the latest of them.
 */
export function createBatchedReads({
  client,
  index,
  deadlineMs,
  instrument,
}: BatchedReadsOptions): (id: string, scope: RequestScope) => Promise<StoredDocument | null> {
  let pending: PendingRead[] = []

  function sendPending(): void {
    const reads = pending
    pending = []
    for (let at = 0; at < reads.length; at += MAX_BATCH) send(reads.slice(at, at + MAX_BATCH))
  }

  function send(reads: readonly PendingRead[]): void {
    const latestMs = Math.max(...reads.map((read) => read.timeoutMs))
    const scope = { ...unbounded, remainingMs: () => latestMs }
    const timers = reads
      .filter(({ timeoutMs }) => timeoutMs < latestMs)
      .map(({ timeoutMs, reject }) => setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs))
    const ids = reads.map(({ id }) => id)
    instrument(() => getAll(ids, scope))
      .finally(() => timers.forEach(clearTimeout))
      .then(
        (responses) => {
          for (const [at, { resolve }] of reads.entries()) resolve(responses[at] ?? {})
        },
        (error) => {
          for (const { reject } of reads) reject(error)
        },
      )
  }

  /** The response for each document, in the order of the request. */
  async function getAll(ids: readonly string[], scope: RequestScope): Promise<object[]> {
    const [id = '', ...others] = ids
    const isSingle = others.length === 0
    const request = isSingle
      ? { path: `/${index}/_doc/${encodeURIComponent(id)}` }
      : { path: `/${index}/_mget`, body: JSON.stringify({ ids }) }
    const response = parseResponse(await readRaw(client, deadlineMs, request, scope))
    const { docs } = isSingle ? { docs: [response] } : (response as { docs?: unknown })
    if (Array.isArray(docs) && ids.every((id, at) => docs[at]?._id === id)) return docs
    throw new Unavailable(`the response of OpenSearch lacks a document of ${index}`)
  }

  return async (id, scope) => {
    const timeoutMs = callTimeoutMs(scope, deadlineMs)
    const response = await new Promise<object>((resolve, reject) => {
      if (pending.push({ id, timeoutMs, resolve, reject }) === 1) setImmediate(sendPending)
    })
    return parseGetResponse(index, response)
  }
}

function timedOut(timeoutMs: number): Unavailable {
  return new Unavailable(`no response from OPENSEARCH_URL in ${timeoutMs} ms`)
}
