import { publicAccount } from '../../auth/account-ids.ts'
import { formatInstant } from '../../lib/instant.ts'
import type { DeliveredEvent } from './delivery.ts'

/** A larger body is sent without the order. */
export const MAX_EVENT_BYTES = 262_144

const DATA = Buffer.from(',"data":')
const END = Buffer.from('}')

/**
 * Renders the body of a webhook. `order`: the account's view, whose bytes become `data` unchanged;
 * `null` for an event without data. Pure.
 */
export function renderEventBody(event: DeliveredEvent, order: Uint8Array | null): Buffer {
  const envelope = JSON.stringify({
    id: event.id,
    type: event.type,
    timestamp: formatInstant(event.recordedAt),
    ...publicAccount(event.accountId),
    order_id: event.orderId,
    sequence: event.sequence,
    change: event.change,
  })
  if (order === null) return Buffer.from(envelope)
  const head = Buffer.from(envelope.slice(0, -1))
  const length = head.length + DATA.length + order.length + END.length
  if (length > MAX_EVENT_BYTES) return Buffer.from(envelope)
  return Buffer.concat([head, DATA, order, END], length)
}
