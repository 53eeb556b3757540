import {
  type DeliveredEvent,
  type Delivery,
  deliveryStates,
  type StoredDelivery,
} from '../../../webhooks/deliveries/delivery.ts'
import type { DocumentState } from '../client/documents/document-state.ts'

/** A stored delivery: the fields that searches use, and the rest as one unparsed object. */
interface DeliverySource {
  /** The document's id, which cannot be sorted by. */
  delivery_id: string
  endpoint_id: string
  account_id: string
  order_id: string | null
  sequence: number | null
  recorded_at: number
  state: Delivery['state']
  next_at: number | null
  first_failed_at: number | null
  held_at: number | null
  excerpt_at: number | null
  delivery: Pick<Delivery, 'attempts' | 'step'> & {
    event: Pick<DeliveredEvent, 'id' | 'type' | 'change'>
  }
}

/** The document of a delivery; its id is that of the delivery. */
export function deliverySource(delivery: Delivery): DeliverySource {
  const { event, attempts, step } = delivery
  const { id, type, change } = event
  return {
    delivery_id: delivery.id,
    endpoint_id: delivery.endpointId,
    account_id: delivery.accountId,
    order_id: event.orderId,
    sequence: event.sequence,
    recorded_at: event.recordedAt,
    state: delivery.state,
    next_at: delivery.nextAt,
    first_failed_at: delivery.firstFailedAt,
    held_at: delivery.heldAt,
    excerpt_at: attempts.find(({ excerpt }) => excerpt !== null)?.at ?? null,
    delivery: { event: { id, type, change }, attempts, step },
  }
}

/** The delivery of a document; `null` when it is damaged. */
export function parseDelivery(id: string, source: unknown): Delivery | null {
  if (!isDeliverySource(source)) return null
  const { event, attempts, step } = source.delivery
  const { account_id: accountId, recorded_at: recordedAt, order_id: orderId, sequence } = source
  return {
    id,
    endpointId: source.endpoint_id,
    accountId,
    event: { ...event, accountId, orderId, sequence, recordedAt } as DeliveredEvent,
    state: source.state,
    nextAt: source.next_at,
    attempts,
    step,
    firstFailedAt: source.first_failed_at,
    heldAt: source.held_at,
  }
}

const isNumberOrNull = (value: unknown) => value === null || typeof value === 'number'

function isDeliverySource(source: unknown): source is DeliverySource {
  const { delivery, ...keys } = Object(source) as Partial<DeliverySource>
  const { event, attempts, step } = Object(delivery) as Partial<DeliverySource['delivery']>
  const { id, type, change } = Object(event) as Partial<DeliveredEvent>
  const isOrder = typeof keys.order_id === 'string' && typeof keys.sequence === 'number'
  const isTest = keys.order_id === null && keys.sequence === null
  return (
    [keys.endpoint_id, keys.account_id, id, type].every((text) => typeof text === 'string') &&
    (isOrder || isTest) &&
    [keys.recorded_at, step].every(Number.isFinite) &&
    deliveryStates.some((state) => state === keys.state) &&
    [keys.next_at, keys.first_failed_at, keys.held_at].every(isNumberOrNull) &&
    Array.isArray(attempts) &&
    typeof change === 'object' &&
    change !== null
  )
}

/** What a write must still find: the document's state, and whether searches find it as pending. */
interface Revision {
  state: DocumentState
  wasPending: boolean
}

/** A delivery with the state of its document. */
export function storedDelivery(delivery: Delivery, state: DocumentState): StoredDelivery {
  const revision: Revision = { state, wasPending: delivery.state === 'pending' }
  return { ...delivery, revision }
}

/** @throws Error when another store returned the delivery */
export function revisionOf({ id, revision }: StoredDelivery): Revision {
  const { state, wasPending } = Object(revision) as Partial<Revision>
  if (state !== undefined && wasPending !== undefined) return { state, wasPending }
  throw new Error(`the delivery ${id} was read from another store: its revision is invalid`)
}
