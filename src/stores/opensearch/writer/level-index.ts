import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, tell } from '../client.ts'
import { REPAIR, tellDamaged } from '../damage.ts'
import { newestStamp, searchOnce, type WalkedHit, walkDocuments } from '../document-walk.ts'
import {
  type DocumentState,
  readDocuments,
  readSourceBytes,
  type ToldDocument,
} from '../documents.ts'
import { renderSource, storedOrder } from '../order-source.ts'
import { REMOVED_FIELD, renderTombstone } from '../tombstone.ts'

export interface LevelOptions {
  client: OpenSearch
  /** For each request, the answer's body included. */
  deadlineMs: number
  /** The index that is read: what it has is the truth. */
  read: string
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
export async function levelIndex(options: LevelOptions): Promise<void> {
  const { client, deadlineMs, read, index } = options
  const newest = await newestStamp({ client, deadlineMs, index: read })
  for await (const page of walkTombstones(options, newest)) await levelPage(options, page)
  // An item that was turned away has the stamp of those that were not.
  const filter = [{ range: { written_key: { gte: newest } } }]
  const walk = { client, deadlineMs, index, pageSize: PAGE_SIZE, filter, wanted: UNREAD }
  for await (const page of walkDocuments(walk)) await levelPage(options, page)
}

const UNREAD = { _source: false }

/** Those of this stamp or a later one. They have no place in the order of account and order. */
async function* walkTombstones(
  options: LevelOptions,
  newest: number,
): AsyncGenerator<readonly WalkedHit[]> {
  const body = {
    ...UNREAD,
    size: PAGE_SIZE,
    query: { range: { [REMOVED_FIELD]: { gte: newest } } },
    sort: [{ [REMOVED_FIELD]: 'asc' }, { _seq_no: 'asc' }],
  }
  for (let after: unknown; ; ) {
    const next = after === undefined ? {} : { search_after: after }
    const page = await searchOnce(options, { ...body, ...next })
    if (page.length > 0) yield page
    if (page.length < PAGE_SIZE) return
    after = page.at(-1)?.sort
  }
}

async function levelPage(options: LevelOptions, page: readonly WalkedHit[]): Promise<void> {
  const { client, deadlineMs, read, index } = options
  const docs = page.map(({ _id, _routing = '' }) => ({ _id, routing: _routing }))
  const request = { docs, _source: ['written_key'] }
  const [there, mine] = await Promise.all([
    readDocuments(client, deadlineMs, { index: read, ...request }),
    readDocuments(client, deadlineMs, { index, ...request }),
  ])
  const uneven = docs.flatMap((address, at) => unevenOf(address, there[at], mine[at]))
  for (let at = 0; at < uneven.length; at += DOCUMENTS_AT_A_TIME) {
    await level(options, uneven.slice(at, at + DOCUMENTS_AT_A_TIME))
  }
}

/** A document or a tombstone that is another document in the index that is read, or not there at all. */
interface Uneven {
  address: { _id: string; routing: string }
  state: DocumentState
  /** Of the document that is to be replaced, epoch milliseconds; `null` of a tombstone. */
  stamp: number | null
}

function unevenOf(
  address: Uneven['address'],
  there: ToldDocument | undefined,
  mine: ToldDocument | undefined,
): Uneven[] {
  if (mine?._seq_no === undefined) return []
  const isEven = mine.found ? stampOf(mine) === stampOf(there) : !there?.found
  if (isEven) return []
  const { _seq_no, _primary_term } = mine
  const state = { if_seq_no: _seq_no, if_primary_term: _primary_term } as DocumentState
  return [{ address, state, stamp: mine.found ? Number(stampOf(mine)) : null }]
}

function stampOf(document: ToldDocument | undefined): unknown {
  return Object(document?._source)['written_key']
}

/** Makes documents what they are in the index that is read. */
async function level(options: LevelOptions, uneven: readonly Uneven[]): Promise<void> {
  const { client, deadlineMs, read, onDelay } = options
  const docs = uneven.map(({ address }) => address)
  const sources = await readSourceBytes(client, deadlineMs, { index: read, docs })
  const damaged: string[] = []
  const lines = uneven.flatMap(({ address, state, stamp }, at) => {
    const source = sources[at]
    const document = source ? storedOrder(source) : null
    if (source && document === null) damaged.push(address._id)
    const written = document === null ? tombstoneOf(stamp) : renderSource(document)
    if (written === null) return []
    const action = { index: { ...address, ...state } }
    return [`${JSON.stringify(action)}\n${written}\n`]
  })
  if (damaged.length > 0) onDelay(`${tellDamaged(read, damaged)}. ${REPAIR}`)
  if (lines.length > 0) await send(options, lines)
}

/** What takes the place of a document; `null` where a tombstone has it already. */
function tombstoneOf(stamp: Uneven['stamp']): string | null {
  return stamp === null ? null : renderTombstone(stamp)
}

async function send({ client, deadlineMs, alias, index }: LevelOptions, lines: readonly string[]) {
  const body = Buffer.from(lines.join('')) as never
  const { errors } = await tell(deadlineMs, (call) =>
    client.bulk({ index: alias, require_alias: true, body }, call),
  )
  if (errors !== false) throw new Unavailable(`${index} did not take every document`)
}
