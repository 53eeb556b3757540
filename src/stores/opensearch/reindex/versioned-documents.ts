import { retryUntilDeadline } from '../../../lib/async/retry-until-deadline.ts'
import { MINUTE_MS } from '../../../lib/durations.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { firstChunk, sendBulk } from '../client/bulk/bulk-request.ts'
import { type BulkItemResult, describeResult, outcomeOf } from '../client/bulk/bulk-response.ts'
import type { OpenSearch } from '../client/client.ts'
import { readDocuments } from '../client/documents/read-documents.ts'
import { IndexMissing } from '../client/errors.ts'

export interface DocumentOptions {
  client: OpenSearch
  /** For each request, the response body included. */
  deadlineMs: number
  /** The name by which to read an index; called before each request. See `reindex.md`. */
  aliasOf(index: string): string
}

/** The address and write timestamp of a document. */
export interface VersionedDocument {
  _id: string
  _routing: string
  writtenKey: number
}

/** The current write timestamps of documents; `null` for a missing one. */
export async function readWrittenKeys(
  { client, deadlineMs, aliasOf }: DocumentOptions,
  index: string,
  documents: readonly VersionedDocument[],
): Promise<(number | null)[]> {
  const docs = documents.map(documentAddress)
  const request = { index: aliasOf(index), docs, _source: ['written_key'] }
  const responses = await readDocuments(client, deadlineMs, request)
  return responses.map(({ found, _source }) =>
    found ? Number(Object(_source)['written_key']) : null,
  )
}

/** The id and routing of a document, as the client expects them. */
export function documentAddress({ _id, _routing }: Omit<VersionedDocument, 'writtenKey'>) {
  return { _id, routing: _routing }
}

/**
 * Sends items in as many bulks as needed and returns how many changed a document. An item older
 * than its document conflicts and changes nothing.
 * @throws Unavailable; Error when OpenSearch rejects a document
 */
export async function sendCopies(
  { client, deadlineMs }: Pick<DocumentOptions, 'client' | 'deadlineMs'>,
  alias: string,
  items: readonly string[],
): Promise<number> {
  let changed = 0
  for (let at = 0; at < items.length; ) {
    const lines = firstChunk(items.slice(at), (item) => item)
    const results = await sendBulk(client, deadlineMs, { alias, lines })
    changed += results.filter(hasChanged).length
    at += lines.length
  }
  return changed
}

function hasChanged(result: BulkItemResult): boolean {
  const outcome = outcomeOf(result)
  if (outcome === 'accepted') return true
  if (outcome === 'conflict') return false
  const message = `OpenSearch rejected a document: ${describeResult(result)}`
  throw outcome === 'invalid' || outcome === 'unmapped'
    ? new Error(message)
    : new Unavailable(message)
}

export interface RetryOptions {
  /** Receives the reason of each retry. */
  onDelay(reason: string): void
  signal?: AbortSignal | undefined
  /** The epoch of the aliases that are read; 0 without aliases. */
  epoch(): number
  /**
   * Waits until the writer has raised its fence, or `signal` aborts.
   * @throws Error when a retry cannot succeed
   */
  prepareRetry(signal: AbortSignal): Promise<void>
}

/** A node that missed the last fence does not know them either. */
const ALIASES_CHANGED = 'the writer has replaced its aliases'
/** Longer than a cluster needs to replace a node. */
const RETRY_DEADLINE_MS = 5 * MINUTE_MS

/**
 * Retries idempotent work while OpenSearch is unavailable. @throws Unavailable after five minutes
 */
export function retry<T>(
  { onDelay, signal, epoch, prepareRetry }: RetryOptions,
  work: () => Promise<T>,
): Promise<T> {
  const endsAt = performance.now() + RETRY_DEADLINE_MS
  let readEpoch = epoch()
  const policy = {
    deadlineMs: RETRY_DEADLINE_MS,
    activity: 'OpenSearch was unavailable',
    signal,
    async onRetry(error: Error) {
      // A writer cannot raise its fence over a lost index.
      const deadline = AbortSignal.timeout(Math.max(0, Math.ceil(endsAt - performance.now())))
      const signals = [deadline, ...(signal ? [signal] : [])]
      await prepareRetry(AbortSignal.any(signals)).catch((failure) => {
        if (deadline.aborted) throw error
        if (!(failure instanceof Unavailable)) throw failure
      })
      const isReplaced = error instanceof IndexMissing && epoch() !== readEpoch
      onDelay(`${isReplaced ? ALIASES_CHANGED : error.message}; retrying`)
    },
  }
  return retryUntilDeadline(policy, () => {
    readEpoch = epoch()
    return work()
  })
}
