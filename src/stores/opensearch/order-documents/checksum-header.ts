import { crc32 } from 'node:zlib'
import { ByteReader } from './byte-reader.ts'

/**
 * The checksum header, by which an order is extracted and verified without parsing:
 *
 *     source = {"frame":"crc-keys-order",keys "order":order}
 *
 * Its parts are hexadecimal: the CRC-32 of the bytes after the header, the byte length of the keys,
 * and that of the order. The keys include the name of `order`; their length has four digits or
 * more. OpenSearch returns a source byte for byte. So a source that matches is as written, and no
 * text of a buyer can end an order early.
 */

/**
 * The source of a document with its checksum header, from the JSON of its keys and of its order.
 */
export function withChecksum(keys: string, order: string): string {
  const before = `${keys.slice(1, -1)},"order":`
  const rest = `${before}${order}}`
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
  const lengths = `${hex(Buffer.byteLength(before), 4)}-${hex(Buffer.byteLength(order), 8)}`
  return `{"frame":"${hex(crc32(rest), 8)}-${lengths}",${rest}`
}

/** A view of the order in a source; `undefined` when its checksum header is missing or wrong. */
export function extractOrderJson(source: Buffer): Buffer | undefined {
  const reader = new ByteReader(source)
  const { crc, keysLength, orderLength } = readChecksumHeader(reader)
  const orderAt = reader.offset + keysLength
  const orderEnd = orderAt + orderLength
  const isComplete = reader.isValid() && orderEnd + 1 === source.length
  if (!isComplete || crc32(source.subarray(reader.offset)) !== crc) return undefined
  return source.subarray(orderAt, orderEnd)
}

/** Whether a parsed source matches its checksum. Old documents without a checksum header match. */
export function checksumMatches(source: object): boolean {
  const { frame, order, ...keys } = source as Record<string, unknown>
  if (frame === undefined) return true
  return withChecksum(JSON.stringify(keys), JSON.stringify(order)).startsWith(
    `{"frame":"${frame}",`,
  )
}

/** The byte length of the order, by the end of its checksum header; `undefined` without one. */
export function orderByteLength(checksumHeader: unknown): number | undefined {
  const [, hex] = /-([0-9a-f]{8})$/.exec(String(checksumHeader)) ?? []
  return hex === undefined ? undefined : Number.parseInt(hex, 16)
}

/** Reads the checksum header; the offset is then at the first byte that the CRC covers. */
export function readChecksumHeader(reader: ByteReader) {
  reader.expectText('{"frame":"')
  const crc = reader.readHex(8)
  reader.expectText('-')
  let keysLength = reader.readHex(4)
  // Keys of 64 KiB have more digits: those of an order with thousands of products.
  while (reader.isValid() && !reader.startsWith('-')) {
    keysLength = keysLength * 16 + reader.readHex(1)
  }
  reader.expectText('-')
  const orderLength = reader.readHex(8)
  reader.expectText('",')
  return { crc, keysLength, orderLength }
}
