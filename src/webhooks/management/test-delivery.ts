import { type Delivery, pendingAt } from '../deliveries/delivery.ts'
import { deliveryId } from '../deliveries/delivery-id.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { newEventId } from '../events/event-id.ts'
import { TEST_EVENT } from '../events/event-types.ts'

/** A delivery of type `webhook.test`, due at `nowMs`, epoch milliseconds. */
export function testDelivery({ id: endpointId, accountId }: Endpoint, nowMs: number): Delivery {
  const eventId = newEventId()
  return {
    id: deliveryId({ id: eventId, recordedAt: nowMs }, endpointId),
    endpointId,
    accountId,
    event: {
      id: eventId,
      type: TEST_EVENT,
      accountId,
      orderId: null,
      sequence: null,
      recordedAt: nowMs,
      change: {},
    },
    ...pendingAt(nowMs),
    attempts: [],
  }
}
