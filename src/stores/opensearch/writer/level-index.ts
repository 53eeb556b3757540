import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, tell } from '../client.ts'
import { REPAIR, tellDamaged } from '../damage.ts'
import { newestStamp, walkDocuments } from '../document-walk.ts'
import {
  type DocumentState,
  readDocuments,
  readSourceBytes,
  type ToldDocument,
} from '../documents.ts'
import { renderSource, storedOrder } from '../order-source.ts'
import { renderTombstone } from '../tombstone.ts'

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
 * their stamps. Only while the fence is raised, all is refreshed and nothing is written.
 *
 * A document that is damaged in the index that is read is not copied but removed from the other, and said to
 * be: a reindex then fails on it. The recovery itself goes on, since `index load --repair` needs a writer.
 */
export async function levelIndex(options: LevelOptions): Promise<void> {
  const { client, deadlineMs, read, index } = options
  const newest = await newestStamp({ client, deadlineMs, index: read })
  // An item that was turned away has the stamp of those that were not.
  const filter = [{ range: { written_key: { gte: newest } } }]
  const walk = {
    client,
    deadlineMs,
    index,
    pageSize: PAGE_SIZE,
    filter,
    wanted: { _source: false },
  }
  for await (const page of walkDocuments(walk)) {
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
}

/** A document that is another one in the index that is read, or not there at all. */
interface Uneven {
  address: { _id: string; routing: string }
  state: DocumentState
  /** Of the document that is to be replaced, epoch milliseconds. */
  stamp: number
}

function unevenOf(
  address: Uneven['address'],
  there: ToldDocument | undefined,
  mine: ToldDocument | undefined,
): Uneven[] {
  if (!mine?.found || stampOf(mine) === stampOf(there)) return []
  const { _seq_no, _primary_term } = mine
  const state = { if_seq_no: _seq_no, if_primary_term: _primary_term } as DocumentState
  return [{ address, state, stamp: Number(stampOf(mine)) }]
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
  const lines = uneven.map(({ address, state, stamp }, at) => {
    const source = sources[at]
    const document = source ? storedOrder(source) : null
    if (source && document === null) damaged.push(address._id)
    const action = { index: { ...address, ...state } }
    const written = document === null ? renderTombstone(stamp) : renderSource(document)
    return `${JSON.stringify(action)}\n${written}\n`
  })
  if (damaged.length > 0) onDelay(`${tellDamaged(read, damaged)}. ${REPAIR}`)
  await send(options, lines)
}

async function send({ client, deadlineMs, alias, index }: LevelOptions, lines: readonly string[]) {
  const body = Buffer.from(lines.join('')) as never
  const { errors } = await tell(deadlineMs, (call) =>
    client.bulk({ index: alias, require_alias: true, body }, call),
  )
  if (errors !== false) throw new Unavailable(`${index} did not take every document`)
}
