import { Unavailable } from '../../../lib/unavailable.ts'
import { ORDER_SCHEMA_VERSION } from '../../../orders/order.ts'
import { isAfter, type PageQuery, type RenderedOrder } from '../../../orders/order-store.ts'
import { upgradeOrder } from '../../../orders/upgrade-order.ts'
import { parseResponse } from '../client/client.ts'
import { parseGetResponse } from '../client/documents.ts'
import { completeHits, positionOf } from '../client/search-response.ts'
import { toPublicJson } from '../order-document.ts'
import { isTombstone } from '../tombstone.ts'
import { decodeRawDocument, decodeRawHits, type RawOrder } from './raw-hit-decoder.ts'
import { sortFields } from './search-body.ts'

/** How the orders of an answer were had: cut out of it, some of them of an older shape, or by parsing it. */
export type DecodePath = 'cut' | 'older_shape' | 'unexpected'

/** Told of every answer with orders. */
export type OnDecode = (path: DecodePath) => void

/**
 * The rows in the answer to the search of a slice: cut out of it where that can be done, else parsed.
 * @throws Unavailable when anything is missing from it, or is not as it was written
 */
export function decodePage(
  response: Buffer,
  query: Pick<PageQuery, 'accountId' | 'sort'>,
  onDecode: OnDecode,
): RenderedOrder[] {
  const rows = decodeRawHits(response, query)
  onDecode(decodePathOf(rows))
  if (rows === undefined) return parseRows(response, query)
  for (const row of rows) row.json = upgradeOrder(row.json, row.schemaVersion)
  return rows
}

/**
 * The order in the answer to a look at one document; `null` where there is none.
 * @throws Unavailable when it is another one, or not as it was written
 */
export function decodeOrder(
  response: Buffer,
  address: { index: string; accountId: string; orderId: string },
  onDecode: OnDecode,
): Uint8Array | null {
  const raw = decodeRawDocument(response, address)
  if (raw !== undefined) {
    onDecode(decodePathOf([raw]))
    return upgradeOrder(raw.json, raw.schemaVersion)
  }
  const document = parseGetResponse(address.index, parseResponse(response))
  if (document === null || isTombstone(document.source)) return null
  onDecode('unexpected')
  checkIdentity(document.source, address.accountId, address.orderId)
  return toPublicJson(document.source)
}

function decodePathOf(raw: readonly RawOrder[] | undefined): DecodePath {
  if (raw === undefined) return 'unexpected'
  return raw.every(({ schemaVersion }) => schemaVersion === ORDER_SCHEMA_VERSION)
    ? 'cut'
    : 'older_shape'
}

function parseRows(
  response: Buffer,
  { accountId, sort }: Pick<PageQuery, 'accountId' | 'sort'>,
): RenderedOrder[] {
  const hits = completeHits(parseResponse(response))
  return hits.map((hit, at) => {
    const position = positionOf(hit)
    const before = hits[at - 1]
    checkIdentity(hit._source, accountId, position.id)
    const hasSortKey = Object(hit._source)[sortFields[sort]] === position.key
    if (!hasSortKey || (before && !isAfter(positionOf(before), position, sort)))
      throw unexpectedResponse()
    return { ...position, json: toPublicJson(hit._source) }
  })
}

function checkIdentity(source: unknown, accountId: string, orderId: string): void {
  const { account_id, id } = Object(source) as Record<string, unknown>
  if (account_id !== accountId || id !== orderId) throw unexpectedResponse()
}

function unexpectedResponse(): Error {
  return new Unavailable('OpenSearch answered with what was not asked for')
}
