import { timingSafeEqual } from 'node:crypto'
import { ApiError } from '../http/api-error.ts'
import { hmacSha256 } from '../lib/hmac.ts'
import { decodeState, encodeState } from './cursor-state.ts'
import { type InstantRange, sorts } from './order-store.ts'
import type { Listing, PagerState } from './paging.ts'
import { orderStatuses, paymentMethods } from './statuses.ts'

/** A secret that signs cursors; `kid` (at most 16 bytes) tells which one did. */
export interface CursorSecret {
  kid: string
  secret: Uint8Array
}

export interface CursorCodec {
  /** The opaque text of `next_cursor`, at most 438 characters. */
  seal(listing: Listing, state: PagerState): string
  /**
   * The place a cursor stands for.
   * @throws ApiError `invalid_request` on `cursor` for a text that is not, to the letter, a cursor
   *   sealed for this account, sort and filters (contract, "Paging procedure" 4)
   */
  open(listing: Listing, cursor: string): PagerState
}

const VERSION = 1
const MAC_BYTES = 16

/**
 * Cursors are sealed, not encrypted: base64url of
 *
 *     version u8 · kid length u8 · kid · sort u8 · pager state · MAC (HMAC-SHA-256, first 16 bytes)
 *
 * The MAC also covers the account and the canonical filters, which the cursor does not carry: with other
 * ones it simply fails. A cursor never expires and names no index. `secrets` rotate: the first signs, all
 * verify.
 */
export function createCursorCodec(
  secrets: readonly [CursorSecret, ...CursorSecret[]],
): CursorCodec {
  const [signing] = secrets
  const byKid = new Map(secrets.map(({ kid, secret }) => [kid, secret]))

  return {
    seal(listing, state) {
      const kid = Buffer.from(signing.kid)
      const header = Buffer.from([VERSION, kid.length, ...kid, sorts.indexOf(listing.sort)])
      const sealed = Buffer.concat([header, encodeState(state)])
      return Buffer.concat([sealed, mac(signing.secret, sealed, listing)]).toString('base64url')
    },

    open(listing, cursor) {
      const bytes = Buffer.from(cursor, 'base64url')
      // The decoder skips what is not base64url and drops spare bits: only the canonical text counts.
      if (bytes.toString('base64url') !== cursor) throw invalidCursor()

      const kidEnd = 2 + (bytes[1] ?? 0)
      const macStart = bytes.length - MAC_BYTES
      if (bytes[0] !== VERSION || macStart <= kidEnd) throw invalidCursor()
      const secret = byKid.get(bytes.toString('utf8', 2, kidEnd))
      if (secret === undefined) throw invalidCursor()

      const sealed = bytes.subarray(0, macStart)
      const expected = mac(secret, sealed, listing)
      if (!timingSafeEqual(expected, bytes.subarray(macStart))) throw invalidCursor()
      if (bytes[kidEnd] !== sorts.indexOf(listing.sort)) throw invalidCursor()
      return decodeState(sealed.subarray(kidEnd + 1))
    },
  }
}

function mac(secret: Uint8Array, sealed: Uint8Array, listing: Listing): Buffer {
  return hmacSha256(secret, canonicalListing(listing), sealed).subarray(0, MAC_BYTES)
}

/**
 * One text for all ways to write the same listing: value sets in one order and without duplicates. A filter
 * that is added some day joins it only where it is set: cursors that are out keep their text.
 */
function canonicalListing({ accountId, sort, filters }: Listing): string {
  const range = ({ gte, lt }: InstantRange) => [gte ?? null, lt ?? null]
  return JSON.stringify([
    accountId,
    sort,
    orderStatuses.filter((status) => filters.statuses.includes(status)),
    paymentMethods.filter((method) => filters.paymentMethods.includes(method)),
    range(filters.created),
    range(filters.updated),
  ])
}

function invalidCursor(): ApiError {
  return new ApiError('invalid_request', {
    param: 'cursor',
    message:
      'Cursor inválido para esta conta, estes filtros e esta ordenação. Envie o next_cursor exatamente como recebido ou recomece a listagem sem cursor.',
  })
}
