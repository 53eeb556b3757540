import { timingSafeEqual } from 'node:crypto'
import { InvalidParamError } from '../lib/errors/invalid-param-error.ts'
import { memoizeByObject } from '../lib/memoize-by-object.ts'
import { hmacSha256 } from '../lib/secrets/hmac.ts'
import type { NamedSecrets } from '../lib/secrets/named-secret.ts'
import { canonicalFilters, type OrderFilters } from './filters/filters.ts'
import { type PageQuery, type Position, sorts } from './order-store.ts'

/** The account, sort and filters, which are the same for all pages of a listing. */
export type Listing = Pick<PageQuery, 'accountId' | 'sort' | 'filters'>

/**
 * The content of a cursor: the position of a listing between two pages. `created_at_desc` uses
 * `after` alone. `updated_at_asc` runs in passes over dated and undated orders: see `paging.md`.
 */
export interface PagerState {
  /** The last row delivered in this pass; `null` when the pass starts at the first order. */
  after: Position | null
  /** The last dated row delivered in any pass. */
  dated: Position | null
  /** Earlier passes cover the undated rows written up to this mark; `null` in the first pass. */
  mark: Position | null
  /** The mark of the next pass; `null` until a page ends inside the undated tail. */
  nextMark: Position | null
}

export interface CursorCodec {
  /** Returns the opaque text of `next_cursor`, at most 438 characters. */
  seal(listing: Listing, state: PagerState): string
  /**
   * Returns the state that a cursor carries.
   * @throws InvalidParamError on `cursor` unless the text is exactly a cursor that was sealed for
   *   this account, sort and filters
   */
  open(listing: Listing, cursor: string): PagerState
}

const VERSION = 1
const MAC_BYTES = 16

/**
 * Cursors are signed, not encrypted: base64url of
 *
 *     version u8 · kid length u8 · kid · sort u8 · pager state · MAC (HMAC-SHA-256, first 16 bytes)
 *
 * The MAC also covers the account and the filters, which the cursor does not contain. A request
 * with other ones fails verification. A cursor never expires and names no index. Secrets rotate:
 * the first signs, all verify, and several may have the same `kid`.
 */
export function createCursorCodec(secrets: NamedSecrets): CursorCodec {
  const [signing] = secrets

  return {
    seal(listing, state) {
      const kid = Buffer.from(signing.kid)
      const header = Buffer.from([VERSION, kid.length, ...kid, sorts.indexOf(listing.sort)])
      const signed = Buffer.concat([header, encodeState(state)])
      return Buffer.concat([signed, mac(signing.secret, signed, listing)]).toString('base64url')
    },

    open(listing, cursor) {
      const bytes = Buffer.from(cursor, 'base64url')
      // The decoder skips foreign characters and drops spare bits; only canonical text is valid.
      if (bytes.toString('base64url') !== cursor) throw invalidCursor()

      const kidEnd = 2 + (bytes[1] ?? 0)
      const macStart = bytes.length - MAC_BYTES
      if (bytes[0] !== VERSION || macStart <= kidEnd) throw invalidCursor()
      const kid = bytes.toString('utf8', 2, kidEnd)
      const signed = bytes.subarray(0, macStart)
      const isSigned = secrets.some(
        (named) =>
          named.kid === kid &&
          timingSafeEqual(mac(named.secret, signed, listing), bytes.subarray(macStart)),
      )
      if (!isSigned) throw invalidCursor()
      if (bytes[kidEnd] !== sorts.indexOf(listing.sort)) throw invalidCursor()
      return decodeState(signed.subarray(kidEnd + 1))
    },
  }
}

const canonicalTexts = memoizeByObject((filters: OrderFilters) =>
  JSON.stringify(canonicalFilters(filters)).slice(1),
)

function mac(secret: Uint8Array, signed: Uint8Array, listing: Listing): Buffer {
  const { accountId, sort, filters } = listing
  const canonicalListing = `${JSON.stringify([accountId, sort]).slice(0, -1)},${canonicalTexts(filters)}`
  return hmacSha256(secret, canonicalListing, signed).subarray(0, MAC_BYTES)
}

function invalidCursor(): InvalidParamError {
  return new InvalidParamError(
    'cursor',
    'Cursor inválido para esta conta, estes filtros e esta ordenação. Envie o next_cursor exatamente como recebido ou recomece a listagem sem cursor.',
  )
}

const FIELDS = ['after', 'dated', 'mark', 'nextMark'] as const satisfies (keyof PagerState)[]

/**
 * Encodes the pager's state in at most 1 + 4 × 73 bytes. The first byte says which positions follow
 * (bit n: field n). Each position is its key as i64, the length of its id as u8, then the id.
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

/** Decodes bytes from {@link encodeState}; the MAC of the cursor proves their origin. */
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
