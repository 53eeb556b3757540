import { hash, randomBytes } from 'node:crypto'
import { base62FromBytes } from '../../lib/text/base62.ts'

const DIGITS = 24

/** `evt_` and 24 random base-62 digits: identifies an event that concerns no order. */
export function newEventId(): string {
  return eventIdOf(randomBytes(32))
}

/** An id like a new one, which is always the same for this text. */
export function derivedEventId(text: string): string {
  return eventIdOf(hash('sha256', text, 'buffer'))
}

function eventIdOf(bytes: Uint8Array): string {
  return `evt_${base62FromBytes(bytes, DIGITS)}`
}
