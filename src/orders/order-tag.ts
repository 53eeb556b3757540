import { hash } from 'node:crypto'

/** The tag of an order without a stored checksum: a digest of its bytes. */
export function tagOf(json: Uint8Array): string {
  return hash('sha256', json, 'base64url')
}
