import { crc32 } from 'node:zlib'
import {
  isAfter,
  type PageQuery,
  type RenderedOrder,
  type Sort,
  type ViewKey,
} from '../../../orders/order-store.ts'
import { ByteReader } from '../order-documents/byte-reader.ts'
import { readChecksumHeader } from '../order-documents/checksum-header.ts'

/**
 * Extracts orders from responses of OpenSearch by their checksum headers, without parsing them.
 * Parsing a page and rendering it again would cost many times as much as all other work for it.
 *
 *     page     = hits "}"
 *     pages    = {"took":N,"responses":[ hits ,"status":200} *( "," hits ,"status":200} ) "]}"
 *     hits     = head [ hit *( "," hit ) ] "]}"
 *     head     = {"took":N,"timed_out":false,"_shards":{…one, successful…},
 *                 "hits":{"max_score":null,"hits":[
 *     hit      = {"_index":…,"_id":…,"_score":null,"_routing":…,"_source":source,"sort":[key,"id"]}
 *     document = {"_index":…,"_id":…,"_version":…,…,"found":true,"_source":source}
 *
 * `checksum-header.ts` describes a source.
 */

/** The bytes of an order in a response, in the schema version in which it was written. */
export interface RawOrder {
  schemaVersion: number
  json: Uint8Array
}

type RawRow = RenderedOrder & RawOrder

type Listing = Pick<PageQuery, 'accountId' | 'sort'>

/**
 * The rows of a page, as views of the response; `undefined` when the response must be parsed.
 * Verifies the account, the sort order, and that each row has the sort key and id of its document.
 */
export function decodeRawHits(response: Buffer, listing: Listing): RawRow[] | undefined {
  const reader = new ByteReader(response)
  const rows = readHits(reader, listing)
  reader.expectText('}')
  return isAtEnd(reader) ? rows : undefined
}

/** The rows of several pages in one response, like {@link decodeRawHits}. */
export function decodeRawPages(
  response: Buffer,
  listings: readonly Listing[],
): RawRow[][] | undefined {
  const reader = new ByteReader(response)
  reader.expectText('{"took":')
  reader.readNumber()
  reader.expectText(',"responses":[')
  const pages = listings.map((listing, at) => {
    if (at > 0) reader.expectText(',')
    const rows = readHits(reader, listing)
    reader.expectText(',"status":200}')
    return rows
  })
  reader.expectText(']}')
  return isAtEnd(reader) ? pages : undefined
}

function readHits(reader: ByteReader, { accountId, sort }: Listing): RawRow[] {
  reader.expectText('{"took":')
  reader.readNumber()
  reader.expectText(',"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":')
  reader.readNumber()
  reader.expectText(',"failed":0},"hits":{"max_score":null,"hits":[')

  const rows: RawRow[] = []
  while (reader.isValid() && !reader.startsWith(']')) {
    if (rows.length > 0) reader.expectText(',')
    readIndexAndId(reader)
    reader.expectText(',"_score":null')
    readRouting(reader)
    reader.expectText(',"_source":')
    const row = readSource(reader, accountId, sort)
    reader.expectText(',"sort":[')
    if (reader.readNumber() !== row.key) reader.fail()
    reader.expectText(',"')
    reader.expectText(row.id)
    reader.expectText('"]}')

    const before = rows.at(-1)
    if (before !== undefined && !isAfter(row, before, sort)) reader.fail()
    rows.push(row)
  }
  reader.expectText(']}')
  return rows
}

/**
 * The order of a document, as a view of the response; `undefined` when the response must be parsed.
 */
export function decodeRawDocument(
  response: Buffer,
  { accountId, orderId }: ViewKey,
): RawOrder | undefined {
  const reader = new ByteReader(response)
  readIndexAndId(reader)
  for (const name of ['_version', '_seq_no', '_primary_term']) {
    reader.expectText(`,"${name}":`)
    reader.readNumber()
  }
  readRouting(reader)
  reader.expectText(',"found":true,"_source":')
  const row = readSource(reader, accountId)
  reader.expectText('}')
  return isAtEnd(reader) && row.id === orderId ? row : undefined
}

/** The order of a source, as a view of it; `undefined` when the source must be parsed. */
export function decodeRawSource(
  source: Buffer,
  { accountId, orderId }: ViewKey,
): RawOrder | undefined {
  const reader = new ByteReader(source)
  const row = readSource(reader, accountId)
  return isAtEnd(reader) && row.id === orderId ? row : undefined
}

function isAtEnd(reader: ByteReader): boolean {
  return reader.isValid() && reader.offset === reader.bytes.length
}

function readIndexAndId(reader: ByteReader): void {
  reader.expectText('{"_index":"')
  reader.skipName()
  reader.expectText('","_id":"')
  reader.skipName()
  reader.expectText('"')
}

function readRouting(reader: ByteReader): void {
  reader.expectText(',"_routing":"')
  reader.skipName()
  reader.expectText('"')
}

const ORDER_NAME = ',"order":'

/** Reads a source that matches its checksum; `sort`: the sort of the row's key. */
function readSource(reader: ByteReader, accountId: string, sort: Sort = 'created_at_desc'): RawRow {
  const { bytes } = reader
  const { crc, keysLength, orderLength } = readChecksumHeader(reader)
  const checksummedFrom = reader.offset
  const orderEnd = checksummedFrom + keysLength + orderLength

  reader.expectText('"account_id":"')
  reader.expectText(accountId)
  reader.expectText('","id":"')
  const idAt = reader.offset
  reader.skipName()
  const id = bytes.toString('latin1', idAt, reader.offset)
  reader.expectText('","shape":')
  const schemaVersion = reader.readNumber()
  reader.expectText(',"status":"')
  reader.skipName()
  reader.expectText('","payment_method":"')
  reader.skipName()
  reader.expectText('","created_key":')
  const created = reader.readNumber()
  reader.expectText(',"updated_key":')
  const updated = reader.readNumber()
  reader.expectText(',"written_key":')
  const written = reader.readNumber()
  // Only filters use the keys until there. A text cannot contain this name: its quotes are escaped.
  reader.skipPast(ORDER_NAME)

  const orderAt = reader.offset
  reader.offset = orderEnd
  reader.expectText('}')
  // Last, because the CRC costs most. It includes the closing brace.
  const isComplete = reader.isValid() && orderAt === checksummedFrom + keysLength
  if (!isComplete || crc32(bytes.subarray(checksummedFrom, reader.offset)) !== crc) reader.fail()
  return {
    key: sort === 'created_at_desc' ? created : updated,
    id,
    schemaVersion,
    json: bytes.subarray(orderAt, orderEnd),
    // A load of history may repeat a timestamp.
    tag: `${written}-${crc}`,
  }
}
