import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, tell } from '../client.ts'
import { newestStamp, type WalkedHit, walkDocuments } from '../document-walk.ts'
import { type DocumentState, readDocuments, type ToldDocument } from '../documents.ts'
import { renderAnew } from '../order-source.ts'

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
}

const PAGE_SIZE = 200

/**
 * Takes back from an index what a bulk left in it that never came to the index that is read: its writer
 * ended, or gave it up. Once such an index is read, its documents would lie behind readers that have passed
 * their stamps. Only while the fence is raised, all is refreshed and nothing is written.
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
    const [there, mine] = await Promise.all([
      readDocuments(client, deadlineMs, { index: read, docs }),
      readDocuments(client, deadlineMs, { index, docs }),
    ])
    const lines = page.flatMap((hit, at) => levelled(hit, there[at], mine[at]))
    if (lines.length > 0) await send(options, lines)
  }
}

/** The item that makes a document what it is in the index that is read; none where it is. */
function levelled(
  { _id, _routing }: WalkedHit,
  there: ToldDocument | undefined,
  mine: ToldDocument | undefined,
): string[] {
  if (!mine?.found || stampOf(mine) === stampOf(there)) return []
  const { _seq_no, _primary_term } = mine
  const state = { if_seq_no: _seq_no, if_primary_term: _primary_term } as DocumentState
  const address = { _id, routing: _routing, ...state }
  if (!there?.found) return [`${JSON.stringify({ delete: address })}\n`]
  return [`${JSON.stringify({ index: address })}\n${renderAnew(there._source)}\n`]
}

function stampOf(document: ToldDocument | undefined): unknown {
  return Object(document?._source)['written_key']
}

async function send({ client, deadlineMs, alias, index }: LevelOptions, lines: readonly string[]) {
  const body = Buffer.from(lines.join('')) as never
  const { errors } = await tell(deadlineMs, (call) =>
    client.bulk({ index: alias, require_alias: true, body }, call),
  )
  if (errors !== false) throw new Unavailable(`${index} did not take every document`)
}
