import { Unavailable } from '../../../lib/unavailable.ts'
import { describeDamaged, REPAIR_HINT } from '../check/damaged-documents.ts'
import type { OpenSearch } from '../client/client.ts'
import {
  type DocumentState,
  type MgetDocument,
  readDocuments,
  readSourceBytes,
} from '../client/documents.ts'
import {
  newestWriteTimestamp,
  type ScannedHit,
  scanDocuments,
  searchPrimary,
} from '../client/scan.ts'
import { parseStoredDocument, serializeDocument } from '../order-document.ts'
import { REMOVED_FIELD, renderTombstone } from '../tombstone.ts'
import { sendBulk } from './bulk-request.ts'
import { describeResult, outcomeOf } from './bulk-response.ts'

export interface RevertOptions {
  client: OpenSearch
  /** For each request, the answer's body included. */
  deadlineMs: number
  /** The index that is read: what it has is the truth. */
  liveIndex: string
  /** One that is fed besides. */
  index: string
  /** The alias through which the writer writes to it. */
  alias: string
  /** Told which documents are damaged and were not copied. */
  onDelay(reason: string): void
}

const PAGE_SIZE = 200
/** An order may have megabytes. */
const DOCUMENTS_AT_A_TIME = 50

/**
 * Takes back from an index what a bulk left in it that never came to the index that is read: its writer
 * ended, or gave it up. Once such an index is read, its documents would lie behind readers that have passed
 * their stamps; and its tombstones would keep every copy of what they removed out. Only while the fence is
 * raised, all is refreshed and nothing is written.
 *
 * A document that is damaged in the index that is read is not copied but removed from the other, and said to
 * be: a reindex then fails on it. The recovery itself goes on, since `index load --repair` needs a writer.
 */
export async function revertPartialWrites(options: RevertOptions): Promise<void> {
  const { client, deadlineMs, liveIndex, index } = options
  const newest = await newestWriteTimestamp({ client, deadlineMs, index: liveIndex })
  for await (const page of scanTombstones(options, newest)) await revertPage(options, page)
  // An item that was turned away has the stamp of those that were not.
  const filter = [{ range: { written_key: { gte: newest } } }]
  const scan = { client, deadlineMs, index, pageSize: PAGE_SIZE, filter, selection: WITHOUT_SOURCE }
  for await (const page of scanDocuments(scan)) await revertPage(options, page)
}

const WITHOUT_SOURCE = { _source: false }

/** Those of this stamp or a later one. They have no place in the order of account and order. */
async function* scanTombstones(
  options: RevertOptions,
  newest: number,
): AsyncGenerator<readonly ScannedHit[]> {
  const body = {
    ...WITHOUT_SOURCE,
    size: PAGE_SIZE,
    query: { range: { [REMOVED_FIELD]: { gte: newest } } },
    sort: [{ [REMOVED_FIELD]: 'asc' }, { _seq_no: 'asc' }],
  }
  for (let after: unknown; ; ) {
    const next = after === undefined ? {} : { search_after: after }
    const page = await searchPrimary(options, { ...body, ...next })
    if (page.length > 0) yield page
    if (page.length < PAGE_SIZE) return
    after = page.at(-1)?.sort
  }
}

async function revertPage(options: RevertOptions, page: readonly ScannedHit[]): Promise<void> {
  const { client, deadlineMs, liveIndex, index } = options
  const docs = page.map(({ _id, _routing = '' }) => ({ _id, routing: _routing }))
  const request = { docs, _source: ['written_key'] }
  const [live, target] = await Promise.all([
    readDocuments(client, deadlineMs, { index: liveIndex, ...request }),
    readDocuments(client, deadlineMs, { index, ...request }),
  ])
  const divergent = docs.flatMap((address, at) => divergenceOf(address, live[at], target[at]))
  for (let at = 0; at < divergent.length; at += DOCUMENTS_AT_A_TIME) {
    await revertDocuments(options, divergent.slice(at, at + DOCUMENTS_AT_A_TIME))
  }
}

/** A document or a tombstone that is another document in the index that is read, or not there at all. */
interface Divergence {
  address: { _id: string; routing: string }
  state: DocumentState
  /** Of the document that is to be replaced, epoch milliseconds; `null` of a tombstone. */
  writeTimestamp: number | null
}

function divergenceOf(
  address: Divergence['address'],
  live: MgetDocument | undefined,
  target: MgetDocument | undefined,
): Divergence[] {
  if (target?._seq_no === undefined) return []
  const isConsistent = target.found
    ? writeTimestampOf(target) === writeTimestampOf(live)
    : !live?.found
  if (isConsistent) return []
  const { _seq_no, _primary_term } = target
  const state = { if_seq_no: _seq_no, if_primary_term: _primary_term } as DocumentState
  return [
    { address, state, writeTimestamp: target.found ? Number(writeTimestampOf(target)) : null },
  ]
}

function writeTimestampOf(document: MgetDocument | undefined): unknown {
  return Object(document?._source)['written_key']
}

/** Makes documents what they are in the index that is read. */
async function revertDocuments(
  options: RevertOptions,
  divergent: readonly Divergence[],
): Promise<void> {
  const { client, deadlineMs, liveIndex, index, alias, onDelay } = options
  const docs = divergent.map(({ address }) => address)
  const sources = await readSourceBytes(client, deadlineMs, { index: liveIndex, docs })
  const damaged: string[] = []
  const lines = divergent.flatMap(({ address, state, writeTimestamp }, at) => {
    const source = sources[at]
    const document = source ? parseStoredDocument(source) : null
    if (source && document === null) damaged.push(address._id)
    const replacement =
      document === null ? replacementTombstone(writeTimestamp) : serializeDocument(document)
    if (replacement === null) return []
    const action = { index: { ...address, ...state } }
    return [`${JSON.stringify(action)}\n${replacement}\n`]
  })
  if (damaged.length > 0) onDelay(`${describeDamaged(liveIndex, damaged)}. ${REPAIR_HINT}`)
  const results = await sendBulk(client, deadlineMs, { alias, lines })
  const failed = results.find((result) => outcomeOf(result) !== 'accepted')
  if (failed) throw new Unavailable(`${index} rejected a document: ${describeResult(failed)}`)
}

/** What takes the place of a document; `null` where a tombstone has it already. */
function replacementTombstone(writeTimestamp: Divergence['writeTimestamp']): string | null {
  return writeTimestamp === null ? null : renderTombstone(writeTimestamp)
}
