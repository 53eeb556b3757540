import { hash } from 'node:crypto'

const ID_DIGITS = 32

/** `dlv_` and 32 hexadecimal digits, derived: an event has one delivery per endpoint. */
export function deliveryId(eventId: string, endpointId: string): string {
  return `dlv_${hash('sha256', `${eventId}\n${endpointId}`, 'hex').slice(0, ID_DIGITS)}`
}
