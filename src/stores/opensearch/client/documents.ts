import { type RequestScope, unbounded } from '../../../lib/request-scope.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { isTombstone, isTombstoneBytes, REMOVED_FIELD } from '../tombstone.ts'
import { type OpenSearch, parseResponse, read, readRaw } from './client.ts'
import { extractSources } from './mget-sources.ts'

export interface DocumentAddress {
  index: string
  id: string
}

export interface StoredDocument {
  source: unknown
  state: DocumentState
}

/** What a write must name to replace just this state of a document. */
export interface DocumentState {
  if_seq_no: number
  if_primary_term: number
}

interface GetResponse {
  found?: unknown
  _source?: unknown
  _seq_no?: unknown
  _primary_term?: unknown
  error?: { type?: unknown; reason?: unknown }
}

/**
 * A document as it is now, searchable yet or not; `null` when there is none.
 * @throws Unavailable also when there is no such index: nobody knows then what would be in it
 */
export async function readDocument(
  client: OpenSearch,
  deadlineMs: number,
  { index, id }: DocumentAddress,
  scope: RequestScope = unbounded,
): Promise<StoredDocument | null> {
  const path = `/${index}/_doc/${encodeURIComponent(id)}`
  return parseGetResponse(index, parseResponse(await readRaw(client, deadlineMs, { path }, scope)))
}

/** The document of an answer. @throws Unavailable when it does not tell whether there is one */
export function parseGetResponse(
  index: string,
  { found, _source, _seq_no, _primary_term, error }: GetResponse,
): StoredDocument | null {
  if (found === false) return null
  if (found !== true || typeof _seq_no !== 'number' || typeof _primary_term !== 'number') {
    throw new Unavailable(
      `OpenSearch did not tell whether ${index} has a document: ${error?.reason ?? 'no reason'}`,
    )
  }
  return { source: _source, state: { if_seq_no: _seq_no, if_primary_term: _primary_term } }
}

export interface MgetRequest {
  index: string
  docs: readonly { _id: string; routing?: string }[]
  /** The fields that are wanted of each; all when absent, none when false. */
  _source?: string[] | false
}

/** What is told of one document of many; a tombstone is not found, and has a state. */
export interface MgetDocument {
  _id: string
  found: boolean
  _source?: unknown
  _seq_no?: number
  _primary_term?: number
}

/**
 * Documents as they are now, searchable yet or not, in the order in which they were asked for.
 * @throws Unavailable when anything is told of fewer
 */
export async function readDocuments(
  client: OpenSearch,
  deadlineMs: number,
  { docs, _source, ...request }: MgetRequest,
): Promise<MgetDocument[]> {
  if (docs.length === 0) return []
  const fields = _source === undefined ? {} : { _source: [...(_source || []), REMOVED_FIELD] }
  const { docs: responses }: { docs?: unknown[] } = await read(deadlineMs, (options) =>
    client.mget({ ...request, ...fields, body: { docs: docs as [] } }, options),
  )
  const documents = checkMgetComplete(responses, request.index, docs.length)
  return documents.map((one) => (isTombstone(one._source) ? { ...one, found: false } : one))
}

/**
 * The sources of documents as they are now, byte for byte as they were written, in the order in which they
 * were asked for; `null` where there is none.
 * @throws Unavailable when anything is told of fewer
 */
export async function readSourceBytes(
  client: OpenSearch,
  deadlineMs: number,
  { index, docs }: Omit<MgetRequest, '_source'>,
): Promise<(Buffer | null)[]> {
  if (docs.length === 0) return []
  const request = { path: `/${index}/_mget`, body: JSON.stringify({ docs }) }
  const { envelope, sources } = extractSources(await readRaw(client, deadlineMs, request))
  const { docs: responses } = parseResponse(envelope) as { docs?: unknown[] }
  return checkMgetComplete(responses, index, docs.length).map(({ found, _source }) => {
    if (!found) return null
    const source = sources[Number(_source)]
    if (source !== undefined) return isTombstoneBytes(source) ? null : source
    throw new Unavailable(`OpenSearch answered with a document of ${index} without its source`)
  })
}

function checkMgetComplete(
  responses: unknown[] | undefined,
  index: string,
  count: number,
): MgetDocument[] {
  if (responses?.length === count && responses.every(isMgetDocument)) return responses
  throw new Unavailable(`OpenSearch did not tell every document of ${index}`)
}

function isMgetDocument(response: unknown): response is MgetDocument {
  const { _id, found } = Object(response) as Partial<MgetDocument>
  return typeof _id === 'string' && typeof found === 'boolean'
}
