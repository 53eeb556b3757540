import type { DeliveryPosition } from '../../../webhooks/deliveries/delivery.ts'

/**
 * A filter for what follows a delivery newest first. Two test events of one millisecond have the
 * same position: a page that ends with one of them is followed by neither.
 */
export function afterDelivery({ recordedAt, sequence, orderId }: DeliveryPosition): object {
  const isSameInstant = { term: { recorded_at: recordedAt } }
  const earlier = [isBefore('recorded_at', recordedAt)]
  const sameInstant = [allOf(isSameInstant, isBefore('sequence', sequence))]
  const sameSequence =
    orderId === null
      ? []
      : [allOf(isSameInstant, { term: { sequence } }, isBefore('order_id', orderId)), testEvents()]
  const should = [...earlier, ...sameInstant, ...sameSequence]
  return { bool: { should, minimum_should_match: 1 } }

  function testEvents(): object {
    return { bool: { filter: [isSameInstant], must_not: [{ exists: { field: 'sequence' } }] } }
  }
}

const isBefore = (field: string, value: number | string) => ({ range: { [field]: { lt: value } } })
const allOf = (...filter: readonly object[]) => ({ bool: { filter } })
