import { crc32 } from 'node:zlib'
import { follows, type RenderedOrder, type SliceQuery } from '../../orders/order-store.ts'
import { sortFields } from './search-body.ts'

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
const NAME = '"[^"\\\\]+"'
const FRAME = '"_source":\\{"frame":"([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{8})",'
const HEAD =
  /^\{"took":\d{1,9},"timed_out":false,"_shards":\{"total":1,"successful":1,"skipped":[01],"failed":0\},"hits":\{"max_score":null,"hits":\[/
const HIT = new RegExp(
  `^,?\\{"_index":${NAME},"_id":${NAME},"_score":null,"_routing":${NAME},${FRAME}`,
)
const HIT_END = /^\},"sort":\[(\d{1,16}),"([\w-]{1,64})"\]\}/
const DOCUMENT = new RegExp(
  `^\\{"_index":${NAME},"_id":${NAME},"_version":\\d+,"_seq_no":\\d+,"_primary_term":\\d+,"_routing":${NAME},"found":true,${FRAME}`,
)
const PAGE_END = ']}}'
const DOCUMENT_END = '}}'

/** Longer than a head, or than all that is between two sources: names of indices have at most 255 bytes. */
const LONGEST = 1_024

/** Why an answer has to be parsed: an order of an older shape, or anything else than the grammar above. */
export type NotCut = 'older_shape' | 'unexpected'

/** The source of a document, with its frame, out of the JSON of its keys and that of its order. */
export function framed(keys: string, order: string): string {
  const before = `${keys.slice(1, -1)},"order":`
  const rest = `${before}${order}}`
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
  const lengths = `${hex(Buffer.byteLength(before), 4)}-${hex(Buffer.byteLength(order), 8)}`
  return `{"frame":"${hex(crc32(rest), 8)}-${lengths}",${rest}`
}

/**
 * The rows of a slice, whose bytes are those of the answer, or why they have to be parsed. Of `shape` and of
 * the account are all of them, in the sort's order, each with the key and id that its document has.
 */
export function cutRows(
  answer: Buffer,
  { accountId, sort }: Pick<SliceQuery, 'accountId' | 'sort'>,
  shape: number,
): RenderedOrder[] | NotCut {
  const head = HEAD.exec(textAt(answer, 0))
  if (head === null) return 'unexpected'
  const rows: RenderedOrder[] = []
  let at = head[0].length
  let text = textAt(answer, at)
  while (text !== PAGE_END) {
    if (text.startsWith(',') !== rows.length > 0) return 'unexpected'
    const source = cutSource(answer, at, HIT.exec(text))
    if (source === undefined) return 'unexpected'
    text = textAt(answer, source.end)
    const end = HIT_END.exec(text)
    if (end === null) return 'unexpected'
    const [ending, key = '', id = ''] = end
    if (!isOf(source, accountId, id)) return 'unexpected'
    if (!source.keys.includes(`,"${sortFields[sort]}":${key},`)) return 'unexpected'
    if (!isOfShape(source, shape)) return 'older_shape'

    const row = { key: Number(key), id, json: source.order }
    const before = rows.at(-1)
    if (before !== undefined && !follows(before, row, sort)) return 'unexpected'
    rows.push(row)
    at = source.end + ending.length
    text = text.slice(ending.length)
  }
  return rows
}

/** The order of a document, whose bytes are those of the answer, or why it has to be parsed. */
export function cutDocument(
  answer: Buffer,
  { accountId, orderId }: { accountId: string; orderId: string },
  shape: number,
): Uint8Array | NotCut {
  const source = cutSource(answer, 0, DOCUMENT.exec(textAt(answer, 0)))
  if (source === undefined || textAt(answer, source.end) !== DOCUMENT_END) return 'unexpected'
  if (!isOf(source, accountId, orderId)) return 'unexpected'
  return isOfShape(source, shape) ? source.order : 'older_shape'
}

/** A source that fits its frame. */
interface CutSource {
  keys: string
  order: Uint8Array
  /** Where the brace is that closes it. */
  end: number
}

/** `begin` is what begins at `at`, up to the end of the frame. */
function cutSource(
  answer: Buffer,
  at: number,
  begin: RegExpExecArray | null,
): CutSource | undefined {
  if (begin === null) return undefined
  const [all, crc = '', keysLength = '', orderLength = ''] = begin
  const keysAt = at + all.length
  const orderAt = keysAt + Number.parseInt(keysLength, 16)
  const end = orderAt + Number.parseInt(orderLength, 16)
  if (crc32(answer.subarray(keysAt, end + 1)) !== Number.parseInt(crc, 16)) return undefined
  const keys = answer.toString('latin1', keysAt, orderAt)
  return { keys, order: answer.subarray(orderAt, end), end }
}

const textAt = (answer: Buffer, at: number) => answer.toString('latin1', at, at + LONGEST)

function isOf({ keys }: CutSource, accountId: string, orderId: string): boolean {
  return keys.startsWith(`"account_id":"${accountId}","id":"${orderId}","shape":`)
}

function isOfShape({ keys }: CutSource, shape: number): boolean {
  return keys.includes(`,"shape":${shape},`)
}
