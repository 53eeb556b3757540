import { randomUUID } from 'node:crypto'

/** Pattern of account ids in keys and source orders. */
export const accountIdPattern = '^[A-Za-z0-9_-]{1,64}$'

/** `req_` and 32 hexadecimal digits. */
export function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}

/**
 * `key_` and 32 hexadecimal digits: identifies a key in commands and logs, unrelated to its secret.
 */
export function newKeyId(): string {
  return `key_${randomUUID().replaceAll('-', '')}`
}
