import { hash, randomBytes, randomUUID } from 'node:crypto'

/** `req_` and 32 hexadecimal digits. */
export function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}

const KEY_ID_LENGTH = 36

/**
 * `key_` and 32 hexadecimal digits: identifies a key in commands and logs, unrelated to its secret.
 * `prefix`: how it begins.
 */
export function newKeyId(prefix = 'key_'): string {
  return `${prefix}${randomUUID().replaceAll('-', '')}`.slice(0, KEY_ID_LENGTH)
}

/** How an id of a key begins: the half of it that is always the same for this text. */
export function derivedKeyIdPrefix(text: string): string {
  return `key_${hash('sha256', text).slice(0, 16)}`
}

/** `we_` and 32 hexadecimal digits: identifies a webhook endpoint. */
export function newEndpointId(): string {
  return `we_${randomUUID().replaceAll('-', '')}`
}

/** An id like a new one, which is always the same for this text. */
export function derivedEndpointId(text: string): string {
  return `we_${hash('sha256', text).slice(0, 32)}`
}

/** `aud_` and 32 hexadecimal digits: identifies an entry of the audit log. */
export function newAuditId(): string {
  return `aud_${randomUUID().replaceAll('-', '')}`
}

const EVENT_ID_DIGITS = 24

/** `evt_` and 24 random base-62 digits: identifies an event that concerns no order. */
export function newEventId(): string {
  return `evt_${base62FromBytes(randomBytes(32), EVENT_ID_DIGITS)}`
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Digits that a number represents exactly; arithmetic on big integers is slow. */
const GROUP_DIGITS = 8
const GROUP = 62n ** BigInt(GROUP_DIGITS)

/** A non-negative integer in base 62, padded with zeros to `length` digits. */
export function toBase62(value: bigint, length: number): string {
  let digits = ''
  for (let rest = value; rest > 0n; rest /= GROUP) digits = groupDigits(rest % GROUP) + digits
  return digits.replace(/^0+/, '').padStart(length, '0')
}

function groupDigits(group: bigint): string {
  let digits = ''
  for (let rest = Number(group); digits.length < GROUP_DIGITS; rest = Math.floor(rest / 62))
    digits = DIGITS.charAt(rest % 62) + digits
  return digits
}

/** Converts random bytes to `length` base-62 digits. Surplus bytes make the bias negligible. */
export function base62FromBytes(bytes: Uint8Array, length: number): string {
  const value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  return toBase62(value % 62n ** BigInt(length), length)
}
