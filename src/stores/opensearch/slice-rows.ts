import { Unavailable } from '../../lib/unavailable.ts'
import { ORDER_SHAPE } from '../../orders/order.ts'
import { follows, type RenderedOrder, type SliceQuery } from '../../orders/order-store.ts'
import { parseAnswer } from './client.ts'
import { cutRows, type NotCut } from './cut.ts'
import { type Hit, positionOf, wholeHits } from './hits.ts'
import { renderShown } from './order-source.ts'
import { sortFields } from './search-body.ts'

/** How the rows of a slice were had: by their frames, or by parsing, and why. */
export type SliceReading = 'cut' | NotCut

/**
 * The rows in the answer to the search of a slice: cut out of it where that can be done, else parsed.
 * @throws Unavailable when anything is missing from it, or is not as it was written
 */
export function sliceRows(
  answer: Buffer,
  query: Pick<SliceQuery, 'accountId' | 'sort'>,
): { rows: RenderedOrder[]; reading: SliceReading } {
  const cut = cutRows(answer, query, ORDER_SHAPE)
  if (typeof cut !== 'string') return { rows: cut, reading: 'cut' }
  return { rows: parseRows(answer, query), reading: cut }
}

function parseRows(
  answer: Buffer,
  { accountId, sort }: Pick<SliceQuery, 'accountId' | 'sort'>,
): RenderedOrder[] {
  const hits = wholeHits(parseAnswer(answer))
  for (const [at, hit] of hits.entries()) {
    const before = hits[at - 1]
    const isNext = before === undefined || follows(positionOf(before), positionOf(hit), sort)
    if (!isNext || !isOwn(hit, accountId, sort)) {
      throw new Unavailable('OpenSearch answered with hits that were not asked for')
    }
  }
  return hits.map((hit) => ({ ...positionOf(hit), json: renderShown(hit._source) }))
}

/** Whether a hit is of the account, and stands where its document belongs. */
function isOwn(hit: Hit, accountId: string, sort: SliceQuery['sort']): boolean {
  const { key, id } = positionOf(hit)
  const source = Object(hit._source) as Record<string, unknown>
  return (
    source['account_id'] === accountId && source['id'] === id && source[sortFields[sort]] === key
  )
}
