import { expect, it } from 'vitest'
import { createCircuitBreaker } from '../../../../../src/webhooks/dispatcher/lanes/circuit-breaker.ts'
import {
  bufferCapacity,
  type Lane,
  wantsRead,
} from '../../../../../src/webhooks/dispatcher/lanes/lane.ts'
import type { BufferUse } from '../../../../../src/webhooks/dispatcher/lanes/lane-buffer.ts'
import { createLanes, type Lanes } from '../../../../../src/webhooks/dispatcher/lanes/lanes.ts'
import { healthOf } from '../../../../../src/webhooks/endpoints/endpoint-health.ts'
import { delivery } from '../../../../support/webhooks/delivery.ts'
import { endpoint } from '../../../../support/webhooks/endpoint.ts'

function createTestLanes(bufferUse: BufferUse) {
  return createLanes({
    clock: () => 0,
    monotonic: () => 0,
    bufferUse,
    scheduler: { update: () => false, remove() {} },
    reader: { request() {}, poke() {} },
    onReady() {},
  })
}

/** Its breaker is open, and a failing delivery waits. */
function failingLane(lanes: Lanes): Lane {
  const lane = lanes.of(endpoint({ failingSince: 0, isBreakerOpen: true }))
  const row = { ...delivery({ event: { orderId: 'ord_1' } }), revision: 1 }
  const failed = { ...row, firstFailedAt: 0, nextAt: 60_000 }
  lane.queue.settle(row, failed, 0)
  return lane
}

function readNothing({ queue }: Lane): void {
  const read = queue.beginRead()
  read.addFailing([], 0)
  read.addDue([])
  read.complete(null, 0)
}

it('an endpoint that recovered keeps its retries when its health is stored', () => {
  const lanes = createTestLanes({ count: 0, limit: 4_096 })
  const lane = failingLane(lanes)
  lane.health = healthOf(endpoint({ lastSuccessAt: 1 }))
  lane.breaker = createCircuitBreaker(false, 0)
  lane.queue.resume(0)
  lanes.restart(endpoint({ lastSuccessAt: 1 }), false)
  readNothing(lane)
  expect(lane.queue.take()?.event.orderId).toBe('ord_1')
})

it('an endpoint that was stopped has its retries in the store alone', () => {
  const lanes = createTestLanes({ count: 0, limit: 4_096 })
  const lane = failingLane(lanes)
  lane.isStopped = true
  lanes.restart(endpoint(), false)
  readNothing(lane)
  expect(lane.queue.take()).toBeNull()
})

it('an endpoint that a command enabled has its retries in the store alone', () => {
  const lanes = createTestLanes({ count: 0, limit: 4_096 })
  const lane = failingLane(lanes)
  lanes.restart(endpoint(), false)
  readNothing(lane)
  expect([lane.breaker.isOpen(), lane.queue.take()]).toEqual([false, null])
})

it('an endpoint that becomes slow keeps twice the number of its requests in memory', () => {
  const bufferUse = { count: 0, limit: 4_096 }
  const lanes = createTestLanes(bufferUse)
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

it('an endpoint whose deliveries in memory all wait for one order reads those of others', () => {
  const lanes = createTestLanes({ count: 0, limit: 4_096 })
  const lane = lanes.of(endpoint({ lastSuccessAt: 1 }))
  const { queue } = lane
  const offer = (orderId: string, sequence: number) =>
    queue.offer({ ...delivery({ event: { orderId, sequence } }), revision: 1 }, 20, queue.reads())
  for (let sequence = 1; sequence <= 20; sequence++) offer('ord_1', sequence)
  offer('ord_2', 1)
  expect(wantsRead(lane, 0)).toBe(false)
  queue.take()
  lane.inFlight = 1
  expect(wantsRead(lane, 0)).toBe(true)
  const read = queue.beginRead()
  expect(read.exclusions().excludedOrders).toEqual(['ord_1'])
  read.addDue([{ ...delivery({ event: { orderId: 'ord_2' } }), revision: 1 }])
  read.complete(null, 0)
  expect([queue.take()?.event.orderId, queue.size(), wantsRead(lane, 0)]).toEqual([
    'ord_2',
    0,
    false,
  ])
})
