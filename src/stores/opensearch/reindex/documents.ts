import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, tell } from '../client.ts'
import { readDocuments } from '../documents.ts'
import { fitted } from '../writer/fitted.ts'

export interface DocumentsOptions {
  client: OpenSearch
  /** For each request, the answer's body included. */
  deadlineMs: number
}

/** Where a document is, and the stamp that it was written at. */
export interface StampedDocument {
  _id: string
  _routing: string
  writtenKey: number
}

/** The stamps of documents as they are now; `null` where there is none. */
export async function readWrittenKeys(
  { client, deadlineMs }: DocumentsOptions,
  index: string,
  documents: readonly StampedDocument[],
): Promise<(number | null)[]> {
  const request = { index, docs: documents.map(addressOf), _source: ['written_key'] }
  const told = await readDocuments(client, deadlineMs, request)
  return told.map(({ found, _source }) => (found ? Number(Object(_source)['written_key']) : null))
}

/** A document as a request names it. */
export function addressOf({ _id, _routing }: Omit<StampedDocument, 'writtenKey'>) {
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
  options: DocumentsOptions,
  alias: string,
  items: readonly string[],
): Promise<number> {
  let changed = 0
  for (let at = 0; at < items.length; ) {
    const fitting = fitted(items.slice(at), (lines) => lines)
    changed += await sendBulk(options, alias, fitting)
    at += fitting.length
  }
  return changed
}

async function sendBulk(
  { client, deadlineMs }: DocumentsOptions,
  alias: string,
  items: readonly string[],
): Promise<number> {
  const body = Buffer.from(items.join('')) as never
  const answer = await tell(deadlineMs, (call) =>
    client.bulk({ index: alias, require_alias: true, body }, call),
  )
  const { items: told } = answer as {
    items?: Record<string, { status: number; error?: BulkError }>[]
  }
  if (told?.length !== items.length) {
    throw new Unavailable('OpenSearch did not tell of every item')
  }
  const outcomes = told.flatMap((item) => Object.values(item))
  for (const { status, error } of outcomes) if (error && status !== CONFLICT) failed(status, error)
  return outcomes.filter(({ status }) => status !== CONFLICT).length
}

interface BulkError {
  type: string
  reason: string
}

function failed(status: number, { type, reason }: BulkError): never {
  const message = `OpenSearch did not take a document: ${status} ${type}: ${reason}`
  if (status === BAD_DOCUMENT) throw new Error(message)
  throw new Unavailable(message) // A full disk, an index that is gone or closed to writes.
}
