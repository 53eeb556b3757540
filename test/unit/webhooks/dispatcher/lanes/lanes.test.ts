import { expect, it } from 'vitest'
import { bufferCapacity } from '../../../../../src/webhooks/dispatcher/lanes/lane.ts'
import { createLanes } from '../../../../../src/webhooks/dispatcher/lanes/lanes.ts'
import { delivery } from '../../../../support/webhooks/delivery.ts'
import { endpoint } from '../../../../support/webhooks/endpoint.ts'

it('an endpoint that becomes slow keeps twice the number of its requests in memory', () => {
  const bufferUse = { count: 0, limit: 4_096 }
  const lanes = createLanes({
    clock: () => 0,
    monotonic: () => 0,
    bufferUse,
    scheduler: { update: () => false, remove() {} },
    reader: { request() {}, poke() {} },
    onReady() {},
  })
  const lane = lanes.of(endpoint({ lastSuccessAt: 1 }))
  for (let index = 0; index < 100; index++) {
    const offered = delivery({ event: { orderId: `ord_${index}` } })
    lane.queue.offer({ ...offered, revision: 1 }, bufferCapacity(lane), lane.queue.reads())
  }
  lanes.update(lane)
  expect(bufferUse.count).toBe(100)
  lane.isSlow = true
  lanes.update(lane)
  expect([bufferUse.count, lane.queue.hasMore()]).toEqual([16, true])
})
