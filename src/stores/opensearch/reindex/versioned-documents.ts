import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, write } from '../client/client.ts'
import { readDocuments } from '../client/documents.ts'
import { firstChunk } from '../write/chunk-by-size.ts'

export interface DocumentOptions {
  client: OpenSearch
  /** For each request, the answer's body included. */
  deadlineMs: number
}

/** Where a document is, and the stamp that it was written at. */
export interface VersionedDocument {
  _id: string
  _routing: string
  writtenKey: number
}

/** The stamps of documents as they are now; `null` where there is none. */
export async function readWrittenKeys(
  { client, deadlineMs }: DocumentOptions,
  index: string,
  documents: readonly VersionedDocument[],
): Promise<(number | null)[]> {
  const request = { index, docs: documents.map(documentAddress), _source: ['written_key'] }
  const responses = await readDocuments(client, deadlineMs, request)
  return responses.map(({ found, _source }) =>
    found ? Number(Object(_source)['written_key']) : null,
  )
}

/** A document as a request names it. */
export function documentAddress({ _id, _routing }: Omit<VersionedDocument, 'writtenKey'>) {
  return { _id, routing: _routing }
}

const BAD_DOCUMENT = 400
const CONFLICT = 409

/**
 * Sends items, the lines of each, in as many bulks as they take, and tells how many changed something: a
 * newer document stays as it is.
 * @throws Unavailable; Error when a document is refused
 */
export async function sendItems(
  options: DocumentOptions,
  alias: string,
  items: readonly string[],
): Promise<number> {
  let changed = 0
  for (let at = 0; at < items.length; ) {
    const chunk = firstChunk(items.slice(at), (lines) => lines)
    changed += await sendBulk(options, alias, chunk)
    at += chunk.length
  }
  return changed
}

async function sendBulk(
  { client, deadlineMs }: DocumentOptions,
  alias: string,
  items: readonly string[],
): Promise<number> {
  const body = Buffer.from(items.join('')) as never
  const response = await write(deadlineMs, (call) =>
    client.bulk({ index: alias, require_alias: true, body }, call),
  )
  const { items: results } = response as {
    items?: Record<string, { status: number; error?: BulkError }>[]
  }
  if (results?.length !== items.length) {
    throw new Unavailable('OpenSearch did not tell of every item')
  }
  const outcomes = results.flatMap((item) => Object.values(item))
  for (const { status, error } of outcomes)
    if (error && status !== CONFLICT) throwItemError(status, error)
  return outcomes.filter(({ status }) => status !== CONFLICT).length
}

interface BulkError {
  type: string
  reason: string
}

function throwItemError(status: number, { type, reason }: BulkError): never {
  const message = `OpenSearch did not take a document: ${status} ${type}: ${reason}`
  if (status === BAD_DOCUMENT) throw new Error(message)
  throw new Unavailable(message) // A full disk, an index that is gone or closed to writes.
}
