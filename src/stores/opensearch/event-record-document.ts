import type { EventRecordKey } from '../../indexing/writer/order-index.ts'
import { type EventRecord, firstSequence } from '../../webhooks/events/event-record.ts'

/** The stored form of an event record, which the writer creates. */
export interface EventRecordSource {
  /** Whether its deliveries exist. */
  fanned_out: boolean
  recorded_at: number
  order_id: string
  first_sequence: number
  record: EventRecord
}

/** The id of the document of an event record: a sequence is announced once. */
export function eventRecordId({ orderId, sequence }: EventRecordKey): string {
  return `${orderId}:${sequence}`
}

/** The stored form of an event record without deliveries. */
export function toEventRecordSource(record: EventRecord): EventRecordSource {
  return {
    fanned_out: false,
    recorded_at: record.recordedAt,
    order_id: record.orderId,
    first_sequence: firstSequence(record),
    record,
  }
}
