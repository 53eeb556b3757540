import { Unavailable } from '../../lib/unavailable.ts'
import { ask, type OpenSearch } from './client.ts'
import { type SearchAnswer, wholeAnswer } from './hits.ts'

/** A document of a walk, by what it is found by. */
export interface WalkedDocument {
  _id: string
  _routing: string
  writtenKey: number
}

export interface WalkOptions {
  client: OpenSearch
  index: string
  /** For each page, the answer's body included. */
  deadlineMs: number
  pageSize: number
  /** How a page is asked for; once when absent. */
  attempt?<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Every document of an index, page by page in the order of account and order. Each page is a search of its
 * own: a document's place never changes, so one that is there all the while is in exactly one page.
 */
export async function* walkDocuments(options: WalkOptions): AsyncGenerator<WalkedDocument[]> {
  const { client, index, deadlineMs, pageSize, attempt = (work) => work() } = options
  let after: unknown[] | null = null
  for (;;) {
    const body: object = {
      size: pageSize,
      track_total_hits: false,
      _source: false,
      docvalue_fields: ['written_key'],
      sort: [{ account_id: 'asc' }, { id: 'asc' }],
      ...(after !== null && { search_after: after }),
    }
    const request = { index, preference: '_primary', allow_partial_search_results: false, body }
    const hits: unknown[] = await attempt(async () => {
      const answer: SearchAnswer = await ask(deadlineMs, (call) => client.search(request, call))
      return wholeAnswer(answer)
    })
    if (!hits.every(isWalked)) {
      throw new Unavailable(`${index} has documents without a key field: "index check" tells them`)
    }
    if (hits.length > 0) {
      yield hits.map(({ _id, _routing, fields }) => {
        return { _id, _routing, writtenKey: fields.written_key[0] }
      })
    }
    if (hits.length < pageSize) return
    after = hits.at(-1)?.sort ?? null
  }
}

interface WalkedHit {
  _id: string
  _routing: string
  sort: [accountId: string, id: string]
  fields: { written_key: [number] }
}

function isWalked(hit: unknown): hit is WalkedHit {
  const { _id, _routing, sort, fields } = Object(hit) as Partial<WalkedHit>
  const isPlaced = Array.isArray(sort) && sort.every((value) => typeof value === 'string')
  const isNamed = typeof _id === 'string' && typeof _routing === 'string'
  return isPlaced && isNamed && Number.isSafeInteger(fields?.written_key[0])
}
