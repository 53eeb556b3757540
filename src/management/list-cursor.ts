import { timingSafeEqual } from 'node:crypto'
import { hmacSha256 } from '../lib/secrets/hmac.ts'
import type { NamedSecrets } from '../lib/secrets/named-secret.ts'

/** A position in a list: the sort keys of its last item. */
export type ListPosition = readonly (string | number)[]

/** Signs the positions of lists. A cursor is valid for one list alone, and never expires. */
export interface ListCursorCodec {
  /** `list`: the route with its account and filters. */
  seal(list: string, position: ListPosition): string
  /** `null` unless the text is exactly a cursor that was sealed for this list. */
  open(list: string, cursor: string): ListPosition | null
}

const MAC_BYTES = 16

/** The first secret signs, all verify. */
export function createListCursorCodec(secrets: NamedSecrets): ListCursorCodec {
  const macOf = (secret: Uint8Array, list: string, payload: Uint8Array) =>
    hmacSha256(secret, `list cursor\n${list}\n`, payload).subarray(0, MAC_BYTES)

  return {
    seal(list, position) {
      const payload = Buffer.from(JSON.stringify(position))
      return Buffer.concat([macOf(secrets[0].secret, list, payload), payload]).toString('base64url')
    },
    open(list, cursor) {
      const bytes = Buffer.from(cursor, 'base64url')
      const [mac, payload] = [bytes.subarray(0, MAC_BYTES), bytes.subarray(MAC_BYTES)]
      if (mac.length < MAC_BYTES || bytes.toString('base64url') !== cursor) return null
      const isSigned = secrets.some(({ secret }) =>
        timingSafeEqual(macOf(secret, list, payload), mac),
      )
      return isSigned ? (JSON.parse(payload.toString()) as ListPosition) : null
    },
  }
}
