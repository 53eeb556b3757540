import { hash, randomUUID } from 'node:crypto'

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
