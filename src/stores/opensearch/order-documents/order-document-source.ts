import { filterKeysOf, type OrderDocument } from '../../../indexing/writer/order-document.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { markerFields } from '../../../orders/filters/filter-generations.ts'
import type { Order } from '../../../orders/order.ts'
import type { ViewKey } from '../../../orders/order-store.ts'
import { upgradeOrder } from '../../../orders/upgrade-order.ts'
import { parseResponse } from '../client/client.ts'
import {
  checksumMatches,
  extractOrderJson,
  orderByteLength,
  withChecksum,
} from './checksum-header.ts'

/** The id of the document of an order and account. */
export function documentId({ accountId, orderId }: ViewKey): string {
  return `${accountId}:${orderId}`
}

/** The address of the document of an order and account. */
export function documentAddress(key: ViewKey): { _id: string; routing: string } {
  return { _id: documentId(key), routing: key.accountId }
}

/** The byte length of the order in a found document; `undefined` when it is unknown. */
export function storedBytes({ _source }: { _source?: unknown }): number | undefined {
  return orderByteLength(Object(_source)['frame'])
}

const MARKERS = Object.fromEntries(markerFields.map((field) => [field, 1]))

/** The source of a document, with the order byte for byte. */
export function serializeDocument(document: OrderDocument): string {
  const keys = {
    account_id: document.accountId,
    id: document.id,
    shape: document.schemaVersion,
    status: document.status,
    payment_method: document.paymentMethod,
    created_key: document.createdKey,
    updated_key: document.updatedKey,
    written_key: document.writtenKey,
    ...document.filterKeys,
    ...MARKERS,
  }
  return withChecksum(JSON.stringify(keys), document.json)
}

/** The fields of a stored document that the service reads. */
export interface OrderDocumentSource {
  account_id: string
  id: string
  shape: number
  updated_key: number
  order: object
}

/** @throws Unavailable when it is not a document of an order */
export function parseOrderSource(source: unknown): OrderDocumentSource {
  if (!isOrderDocumentSource(source)) {
    throw new Unavailable('OpenSearch returned a document that is no order')
  }
  const { account_id, id, shape, updated_key, order } = source
  return { account_id, id, shape, updated_key, order }
}

function isOrderDocumentSource(source: unknown): source is OrderDocumentSource {
  const { account_id, id, shape, updated_key, order } = Object(
    source,
  ) as Partial<OrderDocumentSource>
  return (
    typeof account_id === 'string' &&
    typeof id === 'string' &&
    typeof shape === 'number' &&
    typeof updated_key === 'number' &&
    typeof order === 'object' &&
    order !== null
  )
}

/**
 * Whether a stored source matches its checksum, byte for byte or after another serialization of the
 * same values. A source without a checksum header counts as intact.
 */
export function isIntactSource(source: Buffer): boolean {
  return extractOrderJson(source) !== undefined || checksumMatches(parseResponse(source))
}

/**
 * A stored source as a document to write: keys are derived from the order again, and the order
 * stays byte for byte. `null` when the source is damaged or no order, since a new checksum would
 * hide the damage.
 */
export function parseStoredDocument(source: Buffer): OrderDocument | null {
  const bytes = extractOrderJson(source)
  const parsed = parseResponse(source)
  if (!isOrderDocumentSource(parsed) || (bytes === undefined && !checksumMatches(parsed)))
    return null
  const { created_key, written_key } = Object(parsed) as Record<string, unknown>
  const { status, payment } = parsed.order as Partial<Order>
  if (typeof created_key !== 'number' || typeof written_key !== 'number') return null
  if (status === undefined || payment?.method === undefined) return null
  return {
    accountId: parsed.account_id,
    id: parsed.id,
    schemaVersion: parsed.shape,
    status,
    paymentMethod: payment.method,
    createdKey: created_key,
    updatedKey: parsed.updated_key,
    writtenKey: written_key,
    filterKeys: filterKeysOf(parsed.order),
    json: bytes?.toString() ?? JSON.stringify(parsed.order),
  }
}

/** The order of a document, in its stored schema version. */
export function toStoredJson({ order }: OrderDocumentSource): Buffer {
  return Buffer.from(JSON.stringify(order))
}

/**
 * The order of a document in the current schema version.
 * @throws Unavailable also when the document is damaged
 */
export function toPublicJson(source: unknown): Uint8Array {
  const stored = parseOrderSource(source)
  if (!checksumMatches(Object(source))) {
    const id = documentId({ accountId: stored.account_id, orderId: stored.id })
    throw new Unavailable(
      `the document ${id} does not match its checksum: "index load --repair FILE" with its source order replaces it`,
    )
  }
  return upgradeOrder(toStoredJson(stored), stored.shape)
}
