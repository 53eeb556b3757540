import { digestOf } from '../../../lib/digest.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { ORDER_SCHEMA_VERSION } from '../../../orders/order.ts'
import {
  isAfter,
  type PageQuery,
  type RenderedOrder,
  type ViewKey,
} from '../../../orders/order-store.ts'
import { upgradeOrder } from '../../../orders/upgrade-order.ts'
import { parseResponse, toResponseError } from '../client/client.ts'
import { parseGetResponse } from '../client/documents/read-documents.ts'
import { isTombstone } from '../client/documents/tombstone.ts'
import { toStoreError } from '../client/errors.ts'
import { completeHits, positionOf } from '../client/search/search-response.ts'
import { toPublicJson } from '../order-documents/order-document-source.ts'
import {
  decodeRawDocument,
  decodeRawHits,
  decodeRawPages,
  decodeRawSource,
  type RawOrder,
} from './raw-hit-decoder.ts'
import { sortFields } from './search-body.ts'

/**
 * How orders were decoded. `cut`: from the bytes. `older_shape`: from the bytes, then upgraded from
 * an older schema version. `unexpected`: by parsing a response in an unexpected form.
 */
export type DecodePath = 'cut' | 'older_shape' | 'unexpected'

type Listing = Pick<PageQuery, 'accountId' | 'sort'>

/** Called for every page, unless one beside it failed, and for every response with an order. */
export type OnDecode = (path: DecodePath) => void

/**
 * The rows of a page: extracted from the bytes of the response if possible, otherwise parsed.
 * @throws Unavailable when the response is incomplete or a document is damaged
 */
export function decodePage(response: Buffer, query: Listing, onDecode: OnDecode): RenderedOrder[] {
  const rows = decodeRawHits(response, query)
  if (rows !== undefined) return upgradeRows(rows, onDecode)
  onDecode('unexpected')
  return rowsOf(parseResponse(response), query)
}

/**
 * The rows of each page of a response with several, or the error of the page, which must not affect
 * the others. One page in an unexpected form makes all of them parsed.
 * @throws Unavailable when the response lacks a page
 */
export function decodePages(
  response: Buffer,
  queries: readonly Listing[],
  onDecode: OnDecode,
): (RenderedOrder[] | Error)[] {
  const pages = decodeRawPages(response, queries)
  if (pages !== undefined) return pages.map((rows) => upgradeRows(rows, onDecode))
  const { responses } = parseResponse(response) as { responses?: unknown }
  if (!Array.isArray(responses) || responses.length !== queries.length)
    throw new Unavailable('the response of OpenSearch lacks a page')
  const parsed = queries.map((query, at) => rowsOrError(Object(responses[at]), query))
  // Beside a failed page, the others may have the expected form.
  if (!parsed.some((page) => page instanceof Error)) {
    for (const _ of parsed) onDecode('unexpected')
  }
  return parsed
}

function rowsOrError(
  page: { error?: unknown; status: number },
  query: Listing,
): RenderedOrder[] | Error {
  if (page.error !== undefined) return toStoreError(toResponseError(page.status, page))
  try {
    return rowsOf(page, query)
  } catch (error) {
    if (error instanceof Unavailable) return error
    throw error
  }
}

function upgradeRows(rows: (RenderedOrder & RawOrder)[], onDecode: OnDecode): RenderedOrder[] {
  onDecode(decodePathOf(rows))
  for (const row of rows) row.json = upgradeOrder(row.json, row.schemaVersion)
  return rows
}

/**
 * The order in a get response; `null` when it is missing.
 * @throws Unavailable when the response has another order or a damaged one
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

/**
 * The order in a stored source. A source with another order or a damaged one is an error, which
 * must not affect the others of a response.
 */
export function decodeSource(
  source: Buffer,
  key: ViewKey,
  onDecode: OnDecode,
): Uint8Array | Unavailable {
  const raw = decodeRawSource(source, key)
  if (raw !== undefined) {
    onDecode(decodePathOf([raw]))
    return upgradeOrder(raw.json, raw.schemaVersion)
  }
  onDecode('unexpected')
  try {
    const parsed = parseResponse(source)
    checkIdentity(parsed, key.accountId, key.orderId)
    return toPublicJson(parsed)
  } catch (error) {
    if (error instanceof Unavailable) return error
    throw error
  }
}

function decodePathOf(raw: readonly RawOrder[]): DecodePath {
  return raw.every(({ schemaVersion }) => schemaVersion === ORDER_SCHEMA_VERSION)
    ? 'cut'
    : 'older_shape'
}

function rowsOf(response: object, { accountId, sort }: Listing): RenderedOrder[] {
  const hits = completeHits(response)
  return hits.map((hit, at) => {
    const position = positionOf(hit)
    const before = hits[at - 1]
    checkIdentity(hit._source, accountId, position.id)
    const hasSortKey = Object(hit._source)[sortFields[sort]] === position.key
    if (!hasSortKey || (before && !isAfter(position, positionOf(before), sort)))
      throw unexpectedResponse()
    const json = toPublicJson(hit._source)
    return { ...position, json, tag: digestOf(json) }
  })
}

function checkIdentity(source: unknown, accountId: string, orderId: string): void {
  const { account_id, id } = Object(source) as Record<string, unknown>
  if (account_id !== accountId || id !== orderId) throw unexpectedResponse()
}

function unexpectedResponse(): Error {
  return new Unavailable(
    'OpenSearch returned a document of another account, order or position than requested',
  )
}
