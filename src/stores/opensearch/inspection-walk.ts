import { type FoundDocument, keyFields } from '../../indexing/inspection/index-inspection.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { ask } from './client.ts'
import { wholeAnswer } from './hits.ts'
import type { OpenSearchInspectionOptions } from './inspection.ts'

const PAGE_SIZE = 1_000
/** More than this no search answers with. */
const MAX_UNPLACED = 10_000

/** The keys, and of the order what they are made of. */
const SOURCE = [
  ...keyFields,
  ...['id', 'status', 'payment.method', 'created_at', 'updated_at'].map((path) => `order.${path}`),
]
const PLACED = [{ exists: { field: 'account_id' } }, { exists: { field: 'id' } }]

type Options = OpenSearchInspectionOptions & { pageSize?: number }

/**
 * Every document of the index that is read, in the order of account and order. Each page is a search of its
 * own, without a point in time to hold: the place of a document never changes, so one that is there all the
 * while is in exactly one page. Documents without a place come last, the first 10,000 of them.
 */
export async function* walkIndex(options: Options): AsyncGenerator<FoundDocument[]> {
  const { client, names, deadlineMs, pageSize = PAGE_SIZE } = options
  // What was written before the walk can be found by it.
  await ask(deadlineMs, (call) => client.indices.refresh({ index: names.orders }, call))

  async function search(body: object): Promise<WalkHit[]> {
    const request = { index: names.orders, preference: '_primary' }
    const whole = { track_total_hits: false, _source: SOURCE, ...body }
    const hits = wholeAnswer(
      await ask(deadlineMs, (call) =>
        client.search({ ...request, allow_partial_search_results: false, body: whole }, call),
      ),
    )
    if (hits.every(isWalkHit)) return hits
    throw new Unavailable('OpenSearch answered without the hits that were asked for')
  }

  const inKeyOrder = {
    size: pageSize,
    query: { bool: { filter: PLACED } },
    sort: [{ account_id: 'asc' }, { id: 'asc' }],
  }
  for (let after: unknown; ; ) {
    const hits = await search({
      ...inKeyOrder,
      ...(after !== undefined && { search_after: after }),
    })
    const isLast = hits.length < pageSize
    const page = isLast ? hits : withoutLastPlace(hits)
    if (page.length > 0) yield page.map(foundDocument)
    if (isLast) break
    after = page.at(-1)?.sort
  }

  const unplaced = { bool: { must_not: [{ bool: { filter: PLACED } }] } }
  const last = await search({ size: MAX_UNPLACED, query: unplaced })
  if (last.length > 0) yield last.map(foundDocument)
}

/** Two documents may have one place, where somebody put one by hand: the next page begins with both. */
function withoutLastPlace(hits: readonly WalkHit[]): readonly WalkHit[] {
  const place = ({ sort }: WalkHit) => JSON.stringify(sort)
  const last = hits.at(-1)
  const before = hits.filter((hit) => last !== undefined && place(hit) !== place(last))
  return before.length > 0 ? before : hits
}

interface WalkHit {
  _id: string
  sort?: unknown
  _source?: unknown
}

function isWalkHit(hit: unknown): hit is WalkHit {
  return typeof Object(hit)._id === 'string'
}

/** A document as it is told, whatever is in it. */
export function foundDocument({ _id, _source }: { _id: string; _source?: unknown }): FoundDocument {
  const { order, ...keys } = Object(_source) as Record<string, unknown>
  const [, accountId = '', orderId = _id] = /^([^:]*):(.*)$/s.exec(_id) ?? []
  return { address: { accountId, orderId }, keys, order }
}
