import { randomUUID } from 'node:crypto'

/** `req_` and 32 hexadecimal digits. */
export function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}
