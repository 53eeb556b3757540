import type { Position } from './order-store.ts'
import type { PagerState } from './paging.ts'

const FIELDS = ['after', 'dated', 'mark', 'nextMark'] as const satisfies (keyof PagerState)[]

/**
 * The pager's state as bytes: one byte that says which positions are there (bit n: field n), then for
 * each of those its key as i64, the length of its id as u8, the id. At most 1 + 4 × 73 bytes.
 */
export function encodeState(state: PagerState): Buffer {
  let present = 0
  const parts: Buffer[] = []
  for (const [bit, field] of FIELDS.entries()) {
    const position = state[field]
    if (position === null) continue
    present |= 1 << bit
    parts.push(encodePosition(position))
  }
  return Buffer.concat([Buffer.from([present]), ...parts])
}

/** The reverse; the bytes must come from {@link encodeState}, which the seal of a cursor proves. */
export function decodeState(bytes: Buffer): PagerState {
  const state: PagerState = { after: null, dated: null, mark: null, nextMark: null }
  const present = bytes.readUInt8(0)
  let offset = 1
  for (const [bit, field] of FIELDS.entries()) {
    if ((present & (1 << bit)) === 0) continue
    const idStart = offset + 9
    const idEnd = idStart + bytes.readUInt8(offset + 8)
    state[field] = {
      key: Number(bytes.readBigInt64BE(offset)),
      id: bytes.toString('utf8', idStart, idEnd),
    }
    offset = idEnd
  }
  return state
}

function encodePosition({ key, id }: Position): Buffer {
  const idBytes = Buffer.from(id)
  const header = Buffer.alloc(9)
  header.writeBigInt64BE(BigInt(key))
  header.writeUInt8(idBytes.length, 8)
  return Buffer.concat([header, idBytes])
}
