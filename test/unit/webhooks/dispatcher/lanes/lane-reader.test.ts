import { expect, it } from 'vitest'
import { createLane } from '../../../../../src/webhooks/dispatcher/lanes/lane.ts'
import { createLaneReader } from '../../../../../src/webhooks/dispatcher/lanes/lane-reader.ts'
import { delivery } from '../../../../support/webhooks/delivery.ts'
import { endpoint } from '../../../../support/webhooks/endpoint.ts'

it('at the limit of memory, a lane reads when all that it keeps waits for one order', async () => {
  const bufferUse = { count: 0, limit: 2 }
  const lane = createLane(endpoint({ lastSuccessAt: 1 }), bufferUse, 0)
  const { queue } = lane
  const offer = (orderId: string, sequence: number) =>
    queue.offer({ ...delivery({ event: { orderId, sequence } }), revision: 1 }, 8, queue.reads())
  offer('ord_1', 1)
  offer('ord_1', 2)
  let reads = 0
  const reader = createLaneReader({
    deliveries: {
      async due() {
        reads += 1
        return []
      },
      failingSince: async () => [],
      nextDueAt: async () => null,
    },
    clock: () => 0,
    monotonic: () => 0,
    bufferUse,
    onRead() {},
    source: { succeed() {}, fail: async () => {} },
  })
  offer('ord_2', 1)
  reader.request(lane)
  expect(reads).toBe(0)
  queue.take()
  bufferUse.limit = bufferUse.count
  reader.request(lane)
  await reader.stop()
  expect(reads).toBe(1)
})
