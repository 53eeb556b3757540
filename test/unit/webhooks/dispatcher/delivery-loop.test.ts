import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createRetrySchedule } from '../../../../src/webhooks/deliveries/retry-schedule.ts'
import { createDeliveryLoop } from '../../../../src/webhooks/dispatcher/delivery-loop.ts'
import { createLane } from '../../../../src/webhooks/dispatcher/lanes/lane.ts'
import { createLaneScheduler } from '../../../../src/webhooks/dispatcher/lanes/lane-scheduler.ts'
import { endpoint } from '../../../support/webhooks/endpoint.ts'

it('a lane without a delivery is tried once per turn of the event loop', async () => {
  const lane = createLane(endpoint({ lastSuccessAt: 1 }), { count: 0, limit: 4_096 }, 0)
  let tries = 0
  const queue = {
    ...lane.queue,
    hasReady: () => true,
    take() {
      tries += 1
      lane.isStopped = tries === 100
      return null
    },
  }
  const scheduler = createLaneScheduler({ total: 16, restricted: 4 })
  const broken = Object.assign(lane, { queue })
  scheduler.update(broken, 0)
  const loop = createDeliveryLoop({
    scheduler,
    endpointById: () => endpoint(),
    updateLane: (updated) => scheduler.update(updated, 0),
    orders: { getMany: async () => [] },
    send: async () => ({ kind: 'not-sent' }),
    schedule: createRetrySchedule(),
    results: { add() {}, pending: () => 0 },
    health: { set() {} },
    events: { onAttempt() {}, onBreaker() {} },
    clock: () => 0,
    dueClock: () => 0,
    monotonic: () => 0,
    maySend: () => true,
    source: { succeed() {}, fail: async () => {} },
    onFatal(error) {
      throw error
    },
  })
  loop.wake()
  await nextTurn()
  expect(tries).toBe(1)
})
