import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import { type RequestScope, unbounded } from '../../../../lib/request-scope.ts'
import { type OpenSearch, parseResponse, read, readRaw } from '../client.ts'
import {
  assertPermitted,
  closedIndex,
  INDEX_CLOSED,
  INDEX_NOT_FOUND,
  missingIndex,
} from '../errors.ts'
import { type DocumentState, documentState, type StateFields } from './document-state.ts'
import { extractSources } from './mget-sources.ts'
import { isTombstone, isTombstoneBytes, REMOVED_FIELD } from './tombstone.ts'

export interface DocumentAddress {
  index: string
  id: string
}

export interface ReadAddress extends DocumentAddress {
  /** The primary has every write that another one met as a conflict; a replica may lack it. */
  preference?: '_primary'
}

export interface StoredDocument {
  source: unknown
  state: DocumentState
}

export interface GetResponse extends StateFields {
  found?: unknown
  _source?: unknown
  error?: { type?: unknown; reason?: unknown; index?: unknown }
}

/** In bytes. OpenSearch rejects a write with a longer id, and a request line above 4 KiB. */
const MAX_ID_LENGTH = 512

/**
 * The current document, searchable or not; `null` when it is missing, as with every id that is too
 * long for one.
 * @throws Unavailable also when the index is missing, since the document may have been in it
 */
export async function readDocument(
  client: OpenSearch,
  deadlineMs: number,
  { index, id, preference }: ReadAddress,
  scope: RequestScope = unbounded,
): Promise<StoredDocument | null> {
  if (Buffer.byteLength(id) > MAX_ID_LENGTH) return null
  const path = `/${index}/_doc/${encodeURIComponent(id)}${preferenceQuery(preference)}`
  return parseGetResponse(index, parseResponse(await readRaw(client, deadlineMs, { path }, scope)))
}

function preferenceQuery(preference: ReadAddress['preference']): string {
  return preference === undefined ? '' : `?preference=${preference}`
}

/** The document of a get response. @throws Unavailable when the response is inconclusive */
export function parseGetResponse(index: string, response: GetResponse): StoredDocument | null {
  const { found, _source, error } = response
  if (found === false) return null
  const state = documentState(response)
  if (found !== true || state === null) throw unreadableDocument(index, error)
  return { source: _source, state }
}

/** The error for a document in place of which OpenSearch returned an error. */
export function unreadableDocument(index: string, error: GetResponse['error']): Unavailable {
  if (error?.type === INDEX_NOT_FOUND) return missingIndex(error.reason)
  if (error?.type === INDEX_CLOSED) return closedIndex(error.index)
  return new Unavailable(
    `OpenSearch could not read a document of ${index}: ${error?.reason ?? 'no reason'}`,
  )
}

export interface MgetRequest {
  index: string
  docs: readonly { _id: string; routing?: string }[]
  /** The fields to return; all when absent, none when false. */
  _source?: string[] | false
}

/** One document of an mget response. A tombstone is not found, but has a state. */
export interface MgetDocument {
  _id: string
  /** The index behind the alias of the request. */
  _index?: string
  found: boolean
  _source?: unknown
  _version?: number
  _seq_no?: number
  _primary_term?: number
}

/**
 * The current documents, searchable or not, in the order of the request. Read from the primary: a
 * replica on a node that is cut off from it still responds, and lacks its last writes.
 * @throws Unavailable when the response is incomplete
 */
export async function readDocuments(
  client: OpenSearch,
  deadlineMs: number,
  { docs, _source, ...request }: MgetRequest,
): Promise<MgetDocument[]> {
  if (docs.length === 0) return []
  const fields = _source === undefined ? {} : { _source: [...(_source || []), REMOVED_FIELD] }
  const { docs: responses }: { docs?: unknown[] } = await read(deadlineMs, (options) =>
    client.mget(
      { ...request, ...fields, preference: '_primary', body: { docs: docs as [] } },
      options,
    ),
  )
  const documents = parseMgetDocuments(responses, request.index, docs.length).map(valueOrThrow)
  return documents.map((one) => (isTombstone(one._source) ? { ...one, found: false } : one))
}

/**
 * The current sources of documents, byte for byte, in the order of the request; `null` for a
 * missing one or a tombstone. Read from the primary, as by {@link readDocuments}.
 * @throws Unavailable when the response is incomplete
 */
export async function readSourceBytes(
  client: OpenSearch,
  deadlineMs: number,
  request: Omit<MgetRequest, '_source'>,
): Promise<(Buffer | null)[]> {
  const sources = await readEachSource(client, deadlineMs, request)
  return sources
    .map(valueOrThrow)
    .map((source) => (source && isTombstoneBytes(source) ? null : source))
}

/**
 * The same, with the sources of tombstones, and with an error in place of a document that could not
 * be read, such as one whose shard has no copy.
 * @throws Unavailable when the response is incomplete
 */
export async function readEachSource(
  client: OpenSearch,
  deadlineMs: number,
  { index, docs }: Omit<MgetRequest, '_source'>,
): Promise<(Buffer | Unavailable | null)[]> {
  if (docs.length === 0) return []
  const path = `/${index}/_mget?preference=_primary`
  const request = { path, body: JSON.stringify({ docs }) }
  const { envelope, sources } = extractSources(await readRaw(client, deadlineMs, request))
  const { docs: responses } = parseResponse(envelope) as { docs?: unknown[] }
  return parseMgetDocuments(responses, index, docs.length).map((document) => {
    if (document instanceof Unavailable) return document
    if (!document.found) return null
    const source = sources[Number(document._source)]
    if (source !== undefined) return source
    throw new Unavailable(
      `the mget response of OpenSearch lacks the source of a document of ${index}`,
    )
  })
}

/** @throws Unavailable when the response is incomplete */
function parseMgetDocuments(
  responses: unknown[] | undefined,
  index: string,
  count: number,
): (MgetDocument | Unavailable)[] {
  if (responses?.length !== count) throw incompleteMget(index)
  return responses.map((response) => {
    const { error } = Object(response)
    assertPermitted(error)
    if (error !== undefined) return unreadableDocument(index, error)
    if (isMgetDocument(response)) return response
    throw incompleteMget(index)
  })
}

const incompleteMget = (index: string) =>
  new Unavailable(
    `the mget response of OpenSearch lacks a document of ${index}, or the state of one`,
  )

function valueOrThrow<T>(found: T | Unavailable): T {
  if (found instanceof Unavailable) throw found
  return found
}

function isMgetDocument(response: unknown): response is MgetDocument {
  const { _id, found } = Object(response) as Partial<MgetDocument>
  const hasState = documentState(Object(response)) !== null
  return typeof _id === 'string' && typeof found === 'boolean' && (!found || hasState)
}
