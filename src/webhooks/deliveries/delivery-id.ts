import { hash } from 'node:crypto'
import type { DeliveredEvent } from './delivery.ts'

/** Enough for every instant until the year 2527. */
const INSTANT_DIGITS = 11
const HASH_DIGITS = 21

/**
 * `dlv_` and 32 hexadecimal digits, derived: an event has one delivery per endpoint. They begin
 * with the instant of the event, because an index of random ids writes a page for every new row.
 */
export function deliveryId(
  { id, recordedAt }: Pick<DeliveredEvent, 'id' | 'recordedAt'>,
  endpointId: string,
): string {
  const instant = recordedAt.toString(16).padStart(INSTANT_DIGITS, '0')
  return `dlv_${instant}${hash('sha256', `${id}\n${endpointId}`, 'hex').slice(0, HASH_DIGITS)}`
}
