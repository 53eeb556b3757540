import { Unavailable } from '../../lib/unavailable.ts'
import { completeOrder } from '../../orders/complete.ts'
import { ORDER_SHAPE } from '../../orders/order.ts'
import { follows, type RenderedOrder, type SliceQuery } from '../../orders/order-store.ts'
import { parseAnswer } from './client.ts'
import { type CutOrder, cutDocument, cutRows } from './cut.ts'
import { storedDocument } from './documents.ts'
import { positionOf, wholeHits } from './hits.ts'
import { renderShown } from './order-source.ts'
import { sortFields } from './search-body.ts'
import { isTombstone } from './tombstone.ts'

/** How the orders of an answer were had: cut out of it, some of them of an older shape, or by parsing it. */
export type Reading = 'cut' | 'older_shape' | 'unexpected'

/** Told of every answer with orders. */
export type OnReading = (reading: Reading) => void

/**
 * The rows in the answer to the search of a slice: cut out of it where that can be done, else parsed.
 * @throws Unavailable when anything is missing from it, or is not as it was written
 */
export function sliceRows(
  answer: Buffer,
  query: Pick<SliceQuery, 'accountId' | 'sort'>,
  onReading: OnReading,
): RenderedOrder[] {
  const rows = cutRows(answer, query)
  onReading(readingOf(rows))
  if (rows === undefined) return parseRows(answer, query)
  for (const row of rows) row.json = completeOrder(row.json, row.shape)
  return rows
}

/**
 * The order in the answer to a look at one document; `null` where there is none.
 * @throws Unavailable when it is another one, or not as it was written
 */
export function foundOrder(
  answer: Buffer,
  address: { index: string; accountId: string; orderId: string },
  onReading: OnReading,
): Uint8Array | null {
  const cut = cutDocument(answer, address)
  if (cut !== undefined) {
    onReading(readingOf([cut]))
    return completeOrder(cut.json, cut.shape)
  }
  const document = storedDocument(address.index, parseAnswer(answer))
  if (document === null || isTombstone(document.source)) return null
  onReading('unexpected')
  checkOwner(document.source, address.accountId, address.orderId)
  return renderShown(document.source)
}

function readingOf(cut: readonly CutOrder[] | undefined): Reading {
  if (cut === undefined) return 'unexpected'
  return cut.every(({ shape }) => shape === ORDER_SHAPE) ? 'cut' : 'older_shape'
}

function parseRows(
  answer: Buffer,
  { accountId, sort }: Pick<SliceQuery, 'accountId' | 'sort'>,
): RenderedOrder[] {
  const hits = wholeHits(parseAnswer(answer))
  return hits.map((hit, at) => {
    const position = positionOf(hit)
    const before = hits[at - 1]
    checkOwner(hit._source, accountId, position.id)
    const isThere = Object(hit._source)[sortFields[sort]] === position.key
    if (!isThere || (before && !follows(positionOf(before), position, sort))) throw notAsked()
    return { ...position, json: renderShown(hit._source) }
  })
}

function checkOwner(source: unknown, accountId: string, orderId: string): void {
  const { account_id, id } = Object(source) as Record<string, unknown>
  if (account_id !== accountId || id !== orderId) throw notAsked()
}

function notAsked(): Error {
  return new Unavailable('OpenSearch answered with what was not asked for')
}
