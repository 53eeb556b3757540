import { crc32 } from 'node:zlib'
import {
  follows,
  type RenderedOrder,
  type SliceQuery,
  type Sort,
} from '../../orders/order-store.ts'
import { ByteReader } from './byte-reader.ts'

/**
 * Cuts orders out of OpenSearch's answers by their frames, without a look at what is in them: parsing a page
 * and rendering it again costs many times as much as everything else that is done for it.
 *
 *     page     = head [ hit *( "," hit ) ] "]}}"
 *     head     = {"took":N,"timed_out":false,"_shards":{…one, successful…},"hits":{"max_score":null,"hits":[
 *     hit      = {"_index":…,"_id":…,"_score":null,"_routing":…,"_source":source,"sort":[key,"id"]}
 *     document = {"_index":…,"_id":…,"_version":…,…,"found":true,"_source":source}
 *     source   = {"frame":"crc-keys-order",keys "order":order}
 *
 * The frame tells the length in bytes of the keys, with the name of `order`, and of the order, and the
 * CRC-32 of all that follows it. OpenSearch hands a source out byte for byte, so what fits its frame is what
 * was written, and no text of a buyer's choice can be taken for the end of an order.
 */

/** An order as it lies in an answer, in the shape it was written in. */
export interface CutOrder {
  shape: number
  json: Uint8Array
}

/** The source of a document, with its frame, out of the JSON of its keys and that of its order. */
export function framed(keys: string, order: string): string {
  const before = `${keys.slice(1, -1)},"order":`
  const rest = `${before}${order}}`
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
  const lengths = `${hex(Buffer.byteLength(before), 4)}-${hex(Buffer.byteLength(order), 8)}`
  return `{"frame":"${hex(crc32(rest), 8)}-${lengths}",${rest}`
}

/**
 * The order of a source by itself, whose bytes are those of the source; `undefined` where it does not fit its
 * frame byte for byte, or has none.
 */
export function cutOrder(source: Buffer): Buffer | undefined {
  const reader = new ByteReader(source)
  const { crc, keysLength, orderLength } = readFrame(reader)
  const orderAt = reader.at + keysLength
  const orderEnd = orderAt + orderLength
  const isWhole = reader.isRight() && orderEnd + 1 === source.length
  if (!isWhole || crc32(source.subarray(reader.at)) !== crc) return undefined
  return source.subarray(orderAt, orderEnd)
}

/** Whether a parsed source is what was written; documents of before there were frames have none. */
export function fitsFrame(source: object): boolean {
  const { frame, order, ...keys } = source as Record<string, unknown>
  if (frame === undefined) return true
  return framed(JSON.stringify(keys), JSON.stringify(order)).startsWith(`{"frame":"${frame}",`)
}

/**
 * The rows of a slice, whose bytes are those of the answer; `undefined` where it has to be parsed. All are of
 * the account and in the sort's order, each with the key and id that its document has.
 */
export function cutRows(
  answer: Buffer,
  { accountId, sort }: Pick<SliceQuery, 'accountId' | 'sort'>,
): (RenderedOrder & CutOrder)[] | undefined {
  const reader = new ByteReader(answer)
  reader.text('{"took":')
  reader.number()
  reader.text(',"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":')
  reader.number()
  reader.text(',"failed":0},"hits":{"max_score":null,"hits":[')

  const rows: (RenderedOrder & CutOrder)[] = []
  while (reader.isRight() && !reader.isNext(']')) {
    if (rows.length > 0) reader.text(',')
    readAddress(reader)
    reader.text(',"_score":null')
    readRouting(reader)
    const source = readSource(reader, accountId)
    reader.text(',"sort":[')
    const key = reader.number()
    reader.text(',"')
    reader.text(source.id)
    reader.text('"]}')

    const row = { key, id: source.id, shape: source.shape, json: source.order }
    const before = rows.at(-1)
    const isNext = before === undefined || follows(before, row, sort)
    if (!isNext || source[sort] !== key) reader.fail()
    rows.push(row)
  }
  reader.text(']}}')
  return isAtEnd(reader) ? rows : undefined
}

/** The order of a document, whose bytes are those of the answer; `undefined` where it has to be parsed. */
export function cutDocument(
  answer: Buffer,
  { accountId, orderId }: { accountId: string; orderId: string },
): CutOrder | undefined {
  const reader = new ByteReader(answer)
  readAddress(reader)
  for (const name of ['_version', '_seq_no', '_primary_term']) {
    reader.text(`,"${name}":`)
    reader.number()
  }
  readRouting(reader)
  reader.text(',"found":true')
  const source = readSource(reader, accountId)
  reader.text('}')
  if (!isAtEnd(reader) || source.id !== orderId) return undefined
  return { shape: source.shape, json: source.order }
}

function isAtEnd(reader: ByteReader): boolean {
  return reader.isRight() && reader.at === reader.bytes.length
}

function readAddress(reader: ByteReader): void {
  reader.text('{"_index":"')
  reader.name()
  reader.text('","_id":"')
  reader.name()
  reader.text('"')
}

function readRouting(reader: ByteReader): void {
  reader.text(',"_routing":"')
  reader.name()
  reader.text('"')
}

/** A source that fits its frame, as far as anything of it is read; its order as it lies there. */
interface CutSource extends Record<Sort, number> {
  id: string
  shape: number
  order: Uint8Array
}

function readSource(reader: ByteReader, accountId: string): CutSource {
  const { bytes } = reader
  reader.text(',"_source":')
  const { crc, keysLength, orderLength } = readFrame(reader)
  const framedAt = reader.at
  const orderEnd = framedAt + keysLength + orderLength

  reader.text('"account_id":"')
  reader.text(accountId)
  reader.text('","id":"')
  const idAt = reader.at
  reader.name()
  const id = bytes.toString('latin1', idAt, reader.at)
  reader.text('","shape":')
  const shape = reader.number()
  reader.text(',"status":"')
  reader.name()
  reader.text('","payment_method":"')
  reader.name()
  reader.text('","created_key":')
  const created = reader.number()
  reader.text(',"updated_key":')
  const updated = reader.number()
  reader.text(',"written_key":')
  reader.number()
  reader.text(',"order":')

  const orderAt = reader.at
  reader.at = orderEnd
  reader.text('}')
  // With the brace behind the order, and not before all else is right: sums cost most.
  const isWhole = reader.isRight() && orderAt === framedAt + keysLength
  if (!isWhole || crc32(bytes.subarray(framedAt, reader.at)) !== crc) reader.fail()
  return {
    id,
    shape,
    created_at_desc: created,
    updated_at_asc: updated,
    order: bytes.subarray(orderAt, orderEnd),
  }
}

/** The frame that a source begins with; behind it the reader is where the bytes of the sum begin. */
function readFrame(reader: ByteReader) {
  reader.text('{"frame":"')
  const crc = reader.hex(8)
  reader.text('-')
  const keysLength = reader.hex(4)
  reader.text('-')
  const orderLength = reader.hex(8)
  reader.text('",')
  return { crc, keysLength, orderLength }
}
