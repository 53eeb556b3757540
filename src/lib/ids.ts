import { randomUUID } from 'node:crypto'

/** Account ids, in keys and in source orders. */
export const accountIdPattern = '^[A-Za-z0-9_-]{1,64}$'

/** `req_` and 32 hexadecimal digits (contract, "What the service does" 5). */
export function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}

/** `key_` and 32 hexadecimal digits: names a key in commands and logs without telling anything of it. */
export function newKeyId(): string {
  return `key_${randomUUID().replaceAll('-', '')}`
}
