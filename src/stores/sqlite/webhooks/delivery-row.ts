import type {
  Attempt,
  DeliveredEvent,
  Delivery,
  StoredDelivery,
} from '../../../webhooks/deliveries/delivery.ts'
import { TEST_EVENT } from '../../../webhooks/events/event-types.ts'

/** The columns of a delivery as read. */
export interface DeliveryRow {
  id: string
  endpoint_id: string
  account_id: string
  event_id: string
  type: string
  order_id: string | null
  sequence: number
  recorded_at: number
  change: string
  state: Delivery['state']
  next_at: number | null
  attempts: string
  step: number
  first_failed_at: number | null
  held_at: number | null
  revision: number
}

export const DELIVERY_COLUMNS = `
  id, endpoint_id, account_id, event_id, type, order_id, sequence, recorded_at, change, state,
  next_at, attempts, step, first_failed_at, held_at, revision`

const NO_ATTEMPTS = '[]'
const NO_CHANGE = '{}'

/** Converts a row of `deliveries`. */
export function deliveryOf(row: DeliveryRow): StoredDelivery {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    accountId: row.account_id,
    event: eventOf(row),
    state: row.state,
    nextAt: row.next_at,
    attempts: parseAttempts(row.attempts),
    step: row.step,
    firstFailedAt: row.first_failed_at,
    heldAt: row.held_at,
    revision: row.revision,
  }
}

function eventOf(row: DeliveryRow): DeliveredEvent {
  const event = {
    id: row.event_id,
    accountId: row.account_id,
    recordedAt: row.recorded_at,
    change: row.change === NO_CHANGE ? {} : JSON.parse(row.change),
  }
  if (row.order_id === null) return { ...event, type: TEST_EVENT, orderId: null, sequence: null }
  const type = row.type as Exclude<DeliveredEvent['type'], typeof TEST_EVENT>
  return { ...event, type, orderId: row.order_id, sequence: row.sequence }
}

/** Converts the stored attempts; most deliveries that are read have none. */
export function parseAttempts(text: string): Attempt[] {
  return text === NO_ATTEMPTS ? [] : JSON.parse(text)
}

/** The values of the columns that change while a delivery is sent, from `state` to `held_at`. */
export function progressOf(delivery: Delivery) {
  return [
    delivery.state,
    delivery.nextAt,
    ...renderAttempts(delivery.attempts),
    delivery.step,
    delivery.firstFailedAt,
    delivery.heldAt,
  ] as const
}

/** The stored attempts, with the instant of the oldest one that has an excerpt. */
export function renderAttempts(attempts: readonly Attempt[]): [text: string, at: number | null] {
  if (attempts.length === 0) return [NO_ATTEMPTS, null]
  const withExcerpt = attempts.filter(({ excerpt }) => excerpt !== null).map(({ at }) => at)
  return [JSON.stringify(attempts), withExcerpt.length > 0 ? Math.min(...withExcerpt) : null]
}
