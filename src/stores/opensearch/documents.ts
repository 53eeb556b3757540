import { Unavailable } from '../../lib/unavailable.ts'
import { ask, askForBytes, type OpenSearch, parseAnswer } from './client.ts'
import { cutSources } from './cut-sources.ts'
import { isTombstone, isTombstoneBytes, REMOVED_FIELD } from './tombstone.ts'

export interface DocumentAddress {
  index: string
  id: string
  routing?: string
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

interface GetAnswer {
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
  address: DocumentAddress,
): Promise<StoredDocument | null> {
  return storedDocument(
    address.index,
    await ask(deadlineMs, (options) => client.get(address, { ...options, ignore: [404] })),
  )
}

/** The document of an answer. @throws Unavailable when it does not tell whether there is one */
export function storedDocument(
  index: string,
  { found, _source, _seq_no, _primary_term, error }: GetAnswer,
): StoredDocument | null {
  if (found === false) return null
  if (found !== true || typeof _seq_no !== 'number' || typeof _primary_term !== 'number') {
    throw new Unavailable(
      `OpenSearch did not tell whether ${index} has a document: ${error?.reason ?? 'no reason'}`,
    )
  }
  return { source: _source, state: { if_seq_no: _seq_no, if_primary_term: _primary_term } }
}

export interface ManyRequest {
  index: string
  docs: readonly { _id: string; routing?: string }[]
  /** The fields that are wanted of each; all when absent, none when false. */
  _source?: string[] | false
}

/** What is told of one document of many; a tombstone is not found, and has a state. */
export interface ToldDocument {
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
  { docs, _source, ...request }: ManyRequest,
): Promise<ToldDocument[]> {
  if (docs.length === 0) return []
  const fields = _source === undefined ? {} : { _source: [...(_source || []), REMOVED_FIELD] }
  const { docs: told }: { docs?: unknown[] } = await ask(deadlineMs, (options) =>
    client.mget({ ...request, ...fields, body: { docs: docs as [] } }, options),
  )
  const documents = everyTold(told, request.index, docs.length)
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
  { index, docs }: Omit<ManyRequest, '_source'>,
): Promise<(Buffer | null)[]> {
  if (docs.length === 0) return []
  const question = { path: `/${index}/_mget`, body: JSON.stringify({ docs }) }
  const { rest, sources } = cutSources(await askForBytes(client, deadlineMs, question))
  const { docs: told } = parseAnswer(rest) as { docs?: unknown[] }
  return everyTold(told, index, docs.length).map(({ found, _source }) => {
    if (!found) return null
    const source = sources[Number(_source)]
    if (source !== undefined) return isTombstoneBytes(source) ? null : source
    throw new Unavailable(`OpenSearch answered with a document of ${index} without its source`)
  })
}

function everyTold(told: unknown[] | undefined, index: string, count: number): ToldDocument[] {
  if (told?.length === count && told.every(isTold)) return told
  throw new Unavailable(`OpenSearch did not tell every document of ${index}`)
}

function isTold(answer: unknown): answer is ToldDocument {
  const { _id, found } = Object(answer) as Partial<ToldDocument>
  return typeof _id === 'string' && typeof found === 'boolean'
}
