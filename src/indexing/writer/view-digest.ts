import { hash } from 'node:crypto'
import { ORDER_SCHEMA_VERSION, type Order } from '../../orders/order.ts'
import { undatedJson } from './order-document.ts'

/** The digest of a view that cannot be parsed, so that the next version counts as a change. */
export const UNKNOWN_DIGEST = `${ORDER_SCHEMA_VERSION}:unknown`
/** 96 bits: no accidental collision hides an update. */
const DIGEST_CHARACTERS = 16

/**
 * The digest of a view without its `updated_at`. It starts with the schema version, because a new
 * field changes the digest of an unchanged order. The sequence of tracking keys is no content.
 */
export function viewDigest(order: Order): string {
  const { tracking } = order
  const sorted = tracking && Object.fromEntries(Object.entries(tracking).sort(byKey))
  const json = undatedJson(tracking ? { ...order, tracking: sorted } : order)
  const digest = hash('sha256', json, 'base64url').slice(0, DIGEST_CHARACTERS)
  return `${ORDER_SCHEMA_VERSION}:${digest}`
}

const byKey = ([one]: [string, string], [other]: [string, string]) => (one < other ? -1 : 1)

/** Whether a digest is of the current schema version. */
export function isCurrentDigest(digest: string | undefined): digest is string {
  return digest?.startsWith(`${ORDER_SCHEMA_VERSION}:`) ?? false
}
