import { hash } from 'node:crypto'

/** 22 characters of base64url have 132 bits. */
const LENGTH = 22

/** A digest of the value: 22 characters of base64url. Equal digests mean equal values. */
export function digestOf(value: Uint8Array | string): string {
  return hash('sha256', value, 'base64url').slice(0, LENGTH)
}
