import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { hmacSha256 } from '../lib/secrets/hmac.ts'
import { base62FromBytes, toBase62 } from '../lib/text/base62.ts'

/** What a key reads: the orders of its account, or those of its sandbox. */
export type KeyMode = 'live' | 'test'

const TEST_PREFIX = 'key_test_'
const SECRET_DIGITS = 32
const CHECKSUM_DIGITS = 6
const KEY_PATTERN = new RegExp(`^key_(live|test)_[0-9A-Za-z]{${SECRET_DIGITS + CHECKSUM_DIGITS}}$`)

/**
 * A new key: `key_live_` or `key_test_`, 32 random base-62 digits and a CRC-32 of 6 digits. Never
 * stored.
 */
export function generateApiKey(mode: KeyMode = 'live'): string {
  return keyFromBytes(mode, randomBytes(32))
}

/** The key of the demo account, derived from the pepper, so that it need not be stored. */
export function demoApiKey(pepper: Uint8Array, mode: KeyMode = 'live'): string {
  const sandbox = mode === 'test' ? "'s sandbox" : ''
  return keyFromBytes(mode, hmacSha256(pepper, `the key of the demo account${sandbox}`))
}

/** Whether the text starts as a key does, so that no message repeats it. */
export function looksLikeKey(text: string): boolean {
  return /^key_(live|test)_/.test(text)
}

/** Whether a key reads the sandbox of its account. */
export function isTestKey(key: string): boolean {
  return key.startsWith(TEST_PREFIX)
}

/** Whether the text is a key with a valid checksum, which avoids lookups of mistyped keys. */
export function isWellFormedKey(text: string): boolean {
  return KEY_PATTERN.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_DIGITS)))
}

/** The digest that is stored and queried instead of the key: 64 hexadecimal digits. */
export function keyDigest(pepper: Uint8Array, key: string): string {
  return hmacSha256(pepper, key).toString('hex')
}

function keyFromBytes(mode: KeyMode, bytes: Uint8Array): string {
  const body = `key_${mode}_${base62FromBytes(bytes, SECRET_DIGITS)}`
  return body + checksum(body)
}

function checksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_DIGITS)
}
