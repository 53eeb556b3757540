import type { DeliveryPosition } from '../../../webhooks/deliveries/delivery-store.ts'

/**
 * A test event has no sequence, and the key of a page cannot be the sentinel of a missing number.
 */
const bySequence = (order: 'asc' | 'desc') => ({ sequence: { order, missing: 0 } })

/** Sorts by events. Orders of one bulk are equal, as are test events of one instant. */
export const FIRST_EVENT_FIRST = [{ recorded_at: 'asc' }, bySequence('asc')]
export const LAST_EVENT_FIRST = [{ recorded_at: 'desc' }, bySequence('desc')]

/** A filter for what follows a delivery newest first: no two deliveries have the same position. */
export function afterDelivery({ recordedAt, sequence, id }: DeliveryPosition): object {
  const isSameInstant = { term: { recorded_at: recordedAt } }
  // A test event has no sequence, and is the last of its instant.
  const isTest = { bool: { must_not: [{ exists: { field: 'sequence' } }] } }
  const isSameSequence = sequence === 0 ? isTest : { term: { sequence } }
  const should = [
    isBefore('recorded_at', recordedAt),
    allOf(isSameInstant, isBefore('sequence', sequence)),
    allOf(isSameInstant, isSameSequence, isBefore('delivery_id', id)),
    ...(sequence === 0 ? [] : [allOf(isSameInstant, isTest)]),
  ]
  return { bool: { should, minimum_should_match: 1 } }
}

/** A query for the documents that match each of these. */
export const allOf = (...filter: readonly object[]) => ({ bool: { filter } })

const isBefore = (field: string, value: number | string) => ({ range: { [field]: { lt: value } } })
