import { beforeEach, describe, expect, it } from 'vitest'
import type { StoredDelivery } from '../../../../../src/webhooks/deliveries/delivery.ts'
import type { BufferUse } from '../../../../../src/webhooks/dispatcher/lanes/lane-buffer.ts'
import {
  createLaneQueue,
  type LaneQueue,
} from '../../../../../src/webhooks/dispatcher/lanes/lane-queue.ts'
import { delivery, deliveryOf, testEvent } from '../../../../support/webhooks/delivery.ts'

const MINUTE = 60_000
const NEVER = Number.POSITIVE_INFINITY

let queue: LaneQueue
let bufferUse: BufferUse
beforeEach(() => {
  bufferUse = { count: 0, limit: 100 }
  queue = createLaneQueue(bufferUse)
})

function row(orderId: string, sequence = 1, changes: Partial<StoredDelivery> = {}): StoredDelivery {
  return { ...delivery({ event: { orderId, sequence } }), revision: 1, ...changes }
}

function offer(...rows: StoredDelivery[]): void {
  for (const offered of rows) queue.offer(offered, 10, queue.reads())
}

const nameOf = (taken: StoredDelivery | null) =>
  taken && `${taken.event.orderId} ${taken.event.sequence}`
const take = () => nameOf(queue.take())

function takeRow(): StoredDelivery {
  const taken = queue.take()
  if (taken === null) throw new Error('expected a delivery')
  return taken
}

function fail(taken: StoredDelivery, changes: Partial<StoredDelivery> = {}, nowMs = 0): void {
  queue.settle(taken, { ...taken, firstFailedAt: 0, nextAt: 5_000, ...changes }, nowMs)
}

const succeed = (taken: StoredDelivery) =>
  queue.settle(taken, { ...taken, state: 'delivered', nextAt: null }, 0)

/** A read that returns these rows and finds nothing else. */
function read(rows: StoredDelivery[], nextAt: number | null = null, nowMs = 0) {
  const started = queue.beginRead()
  if (started.needsFailing) started.addFailing([], nowMs)
  const exclusions = started.exclusions()
  started.addDue(rows)
  started.complete(nextAt, nowMs)
  return exclusions
}

describe('the order of deliveries', () => {
  it('a later delivery of an order waits for the earlier one', () => {
    offer(row('ord_1', 1), row('ord_1', 2), row('ord_2'))
    const first = takeRow()
    expect([take(), take()]).toEqual(['ord_2 1', null])
    succeed(first)
    expect(take()).toBe('ord_1 2')
  })

  it('a failing delivery blocks its order alone', () => {
    offer(row('ord_1', 1), row('ord_1', 2), row('ord_2'))
    fail(takeRow())
    expect([take(), take()]).toEqual(['ord_2 1', null])
  })

  it('a failing delivery is retried when it is due, before what is buffered', () => {
    offer(row('ord_1', 1), row('ord_2'))
    fail(takeRow())
    queue.advance(4_999)
    expect(queue.wakeAt()).toBe(5_000)
    queue.advance(5_000)
    expect([take(), take()]).toEqual(['ord_1 1', 'ord_2 1'])
  })

  it('five minutes after the first failure, later deliveries are read from the store', () => {
    offer(row('ord_1', 1), row('ord_1', 2))
    fail(takeRow(), { nextAt: 10 * MINUTE })
    queue.advance(5 * MINUTE - 1)
    expect(queue.hasMore()).toBe(false)
    queue.advance(5 * MINUTE)
    expect(queue.hasMore()).toBe(true)
    expect(read([row('ord_1', 2)]).excludedOrders).toEqual([])
    expect(take()).toBe('ord_1 2')
  })

  it('an order waits no longer when the first failure is by a clock that was ahead', () => {
    offer(row('ord_1', 1), row('ord_1', 2))
    fail(takeRow(), { firstFailedAt: 60 * MINUTE, nextAt: 70 * MINUTE })
    queue.advance(5 * MINUTE)
    expect(queue.hasMore()).toBe(true)
    expect(read([row('ord_1', 2)]).excludedOrders).toEqual([])
  })

  it('a failure after these five minutes does not block the order', () => {
    offer(row('ord_1', 1))
    fail(takeRow(), { nextAt: 20 * MINUTE }, 5 * MINUTE)
    offer(row('ord_1', 2))
    expect(take()).toBe('ord_1 2')
    expect(queue.wakeAt()).toBe(20 * MINUTE)
  })

  it('the later deliveries of an order are read again after its success', () => {
    offer(row('ord_1', 1), row('ord_1', 2))
    fail(takeRow())
    queue.advance(5_000)
    succeed(takeRow())
    expect(queue.hasMore()).toBe(true)
  })

  it('what is created after a read that excluded its order is not sent before what was excluded', () => {
    offer(row('ord_1', 1))
    const first = takeRow()
    expect(read([], 0).excludedOrders).toEqual(['ord_1']) // Its second delivery is in the store.
    offer(row('ord_1', 3))
    succeed(first)
    expect(take()).toBe(null)
    read([row('ord_1', 2), row('ord_1', 3)])
    expect(take()).toBe('ord_1 2')
  })

  it('test events wait for nothing', () => {
    const tests = ['evt_a', 'evt_b'].map((id) => ({ ...deliveryOf(testEvent(id)), revision: 1 }))
    offer(...tests)
    fail(takeRow())
    expect(queue.take()?.event.id).toBe('evt_b')
    expect(queue.wakeAt()).toBe(5_000)
  })

  it('at 1,024 failing orders, the one that waited longest is released', () => {
    for (let index = 0; index <= 1_024; index++) {
      offer(row(`ord_${index}`))
      fail(takeRow())
    }
    expect(queue.beginRead().exclusions().excludedOrders).not.toContain('ord_0')
    offer(row('ord_1', 2))
    expect(take()).toBeNull()
  })
})

describe('what is in the store alone', () => {
  it('a delivery that exceeds the buffer is read later, and so are all after it', () => {
    for (let index = 0; index < 11; index++) offer(row(`ord_${index}`))
    expect(queue.size()).toBe(10)
    expect(queue.hasMore()).toBe(true)
    takeRow()
    offer(row('ord_12'))
    expect(queue.size()).toBe(9)
  })

  it('a read excludes what is here, and the orders that wait', () => {
    offer(row('ord_1'), row('ord_2'), row('ord_3'))
    fail(takeRow())
    const busy = takeRow()
    expect(read([])).toEqual({
      excludedOrders: ['ord_2', 'ord_1'],
      excludedIds: [busy.id, row('ord_3').id],
    })
  })

  it('an order that a read excluded is read again when it is released', () => {
    offer(row('ord_1'))
    const busy = takeRow()
    read([])
    expect(queue.hasMore()).toBe(false)
    succeed(busy)
    expect(queue.hasMore()).toBe(true)
  })

  it('an order that no read excluded is not read again', () => {
    offer(row('ord_1'))
    succeed(takeRow())
    expect(queue.hasMore()).toBe(false)
    expect(queue.isEmpty()).toBe(true)
  })

  it('a delivery that is created during a read is read later', () => {
    const started = queue.beginRead()
    started.exclusions()
    offer(row('ord_1'))
    started.addDue([])
    started.complete(null, 0)
    expect(queue.size()).toBe(0)
    expect(queue.hasMore()).toBe(true)
  })

  it('a delivery that a read found while it was created is not taken twice', () => {
    const created = row('ord_1')
    const readsBefore = queue.reads()
    read([created])
    queue.offer(created, 10, readsBefore)
    expect(queue.size()).toBe(1)
    succeed(takeRow())
    queue.offer(created, 10, readsBefore)
    expect(take()).toBeNull()
    expect(queue.hasMore()).toBe(true)
  })

  it('a full page is followed by another read', () => {
    const started = queue.beginRead()
    started.exclusions()
    started.addDue([row('ord_1')])
    started.end()
    expect(queue.hasMore()).toBe(true)
  })

  it('the store is read again when its next delivery is due', () => {
    read([], 60_000)
    queue.advance(59_999)
    expect(queue.hasMore()).toBe(false)
    queue.advance(60_000)
    expect(queue.hasMore()).toBe(true)
  })

  it('a due delivery that was excluded is looked up again after a second, not at once', () => {
    offer(row('ord_1'))
    takeRow()
    read([], 0, 20_000)
    expect(queue.wakeAt()).toBe(21_000)
  })

  it('a result that was dropped, because the row had changed, is followed by a read', () => {
    offer(row('ord_1'))
    queue.settle(takeRow(), null, 0)
    expect(queue.hasMore()).toBe(true)
  })

  it('the deliveries of an order are read in their order after one was put back', () => {
    offer(row('ord_1', 1), row('ord_1', 2), row('ord_2'))
    queue.putBack(takeRow())
    expect([take(), take()]).toEqual(['ord_2 1', null])
    read([row('ord_1', 1), row('ord_1', 2)])
    expect([take(), take()]).toEqual(['ord_1 1', null])
  })

  it('a read in progress adds nothing of an order of which a delivery was put back', () => {
    offer(row('ord_1', 1), row('ord_1', 2))
    const reading = queue.beginRead()
    reading.exclusions()
    queue.putBack(takeRow())
    reading.addDue([row('ord_1', 3), row('ord_2')])
    reading.complete(null, 0)
    expect([take(), take(), queue.hasMore()]).toEqual(['ord_2 1', null, true])
    read([row('ord_1', 1), row('ord_1', 2), row('ord_1', 3)])
    expect(take()).toBe('ord_1 1')
  })

  it('a read in progress adds nothing of an order that failed and succeeded meanwhile', () => {
    offer(row('ord_1', 1), row('ord_1', 2))
    const reading = queue.beginRead()
    reading.exclusions()
    fail(takeRow())
    queue.advance(5_000)
    succeed(takeRow())
    reading.addDue([row('ord_1', 3)])
    reading.complete(null, 5_000)
    expect([take(), queue.hasMore()]).toEqual([null, true])
  })

  it('a failing delivery that was put back stays failing', () => {
    offer(row('ord_1'))
    fail(takeRow())
    queue.advance(5_000)
    queue.putBack(takeRow())
    queue.advance(5_001)
    expect(take()).toBe('ord_1 1')
  })

  it('a failing delivery that was put back after a reset still goes before later ones', () => {
    const failing = row('ord_1', 1, { firstFailedAt: 0, nextAt: 5_000 })
    offer(failing)
    const taken = takeRow()
    queue.reset()
    read([])
    queue.putBack(taken)
    const reading = queue.beginRead()
    expect(reading.needsFailing).toBe(true)
    reading.addFailing([failing], 1)
    expect(reading.exclusions().excludedOrders).toEqual(['ord_1'])
  })

  it('a read of the failing deliveries ignores one of which an attempt was stored meanwhile', () => {
    const failing = row('ord_1', 1, { firstFailedAt: 0, nextAt: 5_000 })
    offer(failing)
    const taken = takeRow()
    queue.reread()
    const reading = queue.beginRead()
    succeed(taken)
    reading.addFailing([failing], 1)
    expect([queue.hasFailing(), reading.exclusions().excludedOrders]).toEqual([false, []])
  })

  it('a delivery whose five minutes end now blocks no order after a reset', () => {
    queue.reset()
    const reading = queue.beginRead()
    const first = row('ord_1', 1, { firstFailedAt: 0 })
    const second = row('ord_1', 2, { firstFailedAt: 5 * MINUTE, nextAt: 6 * MINUTE })
    reading.addFailing([first, second], 5 * MINUTE)
    reading.exclusions()
    reading.addDue([])
    reading.complete(null, 5 * MINUTE)
    queue.advance(6 * MINUTE)
    expect(take()).toBe('ord_1 2')
  })

  it('a page that contains what is here already adds it once', () => {
    offer(row('ord_1'), row('ord_2'))
    takeRow()
    read([row('ord_1'), row('ord_2'), row('ord_3')])
    expect([take(), take(), take()]).toEqual(['ord_2 1', 'ord_3 1', null])
  })
})

describe('an open circuit breaker', () => {
  beforeEach(() => {
    offer(row('ord_1'), row('ord_2'))
    fail(takeRow())
    queue.suspend()
  })

  it('what is buffered is dropped, and what is failing stays', () => {
    expect(queue.size()).toBe(0)
    expect(queue.hasFailing()).toBe(true)
    queue.advance(60 * MINUTE)
    expect(queue.hasReady()).toBe(false)
  })

  it('a read in progress adds nothing, because it excluded what was dropped', () => {
    queue.resume(0)
    const reading = queue.beginRead()
    reading.exclusions()
    queue.suspend()
    reading.addDue([row('ord_2', 2)])
    reading.end()
    expect([queue.size(), queue.hasMore()]).toEqual([0, true])
  })

  it('a probe takes the failing delivery, due or not', () => {
    expect(nameOf(queue.takeFailing())).toBe('ord_1 1')
    expect(queue.takeFailing()).toBeNull()
  })

  it('it has no failing delivery for a probe while the only one is taken', () => {
    const probe = queue.takeFailing()
    expect(queue.hasFailing()).toBe(false)
    if (probe !== null) queue.putBack(probe)
    expect(queue.hasFailing()).toBe(true)
  })

  it('a failed probe blocks its order, however long the outage is', () => {
    const probe = queue.takeFailing()
    if (probe === null) throw new Error('expected a probe')
    fail(probe, { nextAt: 0 }, 60 * MINUTE)
    queue.resume(61 * MINUTE)
    expect(take()).toBe('ord_1 1')
  })

  it('after it closes, failing deliveries go before later ones of their order', () => {
    queue.resume(60 * MINUTE)
    queue.advance(60 * MINUTE)
    expect(read([row('ord_2')]).excludedOrders).toEqual(['ord_1'])
    expect([take(), take()]).toEqual(['ord_1 1', 'ord_2 1'])
  })
})

describe('a changed endpoint', () => {
  it('everything but the attempts in progress is read again', () => {
    offer(row('ord_1'), row('ord_2'), row('ord_3'))
    fail(takeRow())
    const busy = takeRow()
    queue.reread()
    expect(take()).toBeNull()
    const started = queue.beginRead()
    expect(started.needsFailing).toBe(true)
    started.addFailing([row('ord_1', 1, { firstFailedAt: 0, nextAt: 5_000 })], 0)
    expect(started.exclusions()).toEqual({
      excludedOrders: ['ord_2', 'ord_1'],
      excludedIds: [busy.id],
    })
  })

  it('retries that became due at the end of an outage are kept', () => {
    offer(row('ord_1', 1), row('ord_2'))
    fail(takeRow(), { nextAt: 60 * MINUTE })
    queue.suspend()
    queue.resume(MINUTE)
    queue.reread()
    expect(take()).toBeNull()
    const { excludedOrders } = read([row('ord_2')])
    expect([excludedOrders, take(), take()]).toEqual([['ord_1'], 'ord_1 1', 'ord_2 1'])
  })

  it('a stopped endpoint keeps no retry', () => {
    offer(row('ord_1'))
    fail(takeRow())
    queue.advance(5_000)
    queue.reset()
    read([])
    expect(take()).toBeNull()
  })

  it('an order that waited for a failing delivery waits no longer', () => {
    offer(row('ord_1', 1))
    fail(takeRow())
    read([]) // It excludes the order.
    queue.reread()
    read([])
    offer(row('ord_1', 2))
    expect(take()).toBe('ord_1 2')
  })

  it('the result of an earlier read is dropped', () => {
    const started = queue.beginRead()
    started.exclusions()
    queue.reread()
    started.addDue([row('ord_1')])
    started.complete(null, 0)
    expect(queue.size()).toBe(0)
    expect(queue.hasMore()).toBe(true)
  })
})

describe('memory', () => {
  it('the buffered deliveries are counted', () => {
    offer(row('ord_1', 1), row('ord_1', 2), row('ord_2'), row('ord_3'))
    expect(bufferUse.count).toBe(4)
    fail(takeRow())
    expect(bufferUse.count).toBe(2)
    read([row('ord_4')])
    expect(bufferUse.count).toBe(3)
    queue.forget('ord_2')
    expect(bufferUse.count).toBe(2)
    queue.suspend()
    expect(bufferUse.count).toBe(0)
  })

  it('at the limit of all lanes, a created delivery stays in the store', () => {
    bufferUse.count = 100
    offer(row('ord_1'))
    expect([queue.size(), queue.hasMore()]).toEqual([0, true])
  })

  it('a trimmed buffer keeps what is sent first, and the rest is read again', () => {
    offer(row('ord_1', 1), row('ord_2'), row('ord_1', 2), row('ord_3'))
    queue.trim(2)
    expect([queue.size(), bufferUse.count, queue.hasMore()]).toEqual([2, 2, true])
    read([row('ord_1', 2)])
    expect([take(), take()]).toEqual(['ord_1 1', 'ord_2 1'])
  })

  it('a buffer is not trimmed during a read, which excludes what it holds', () => {
    offer(row('ord_1', 1))
    const started = queue.beginRead()
    started.exclusions()
    queue.trim(0)
    started.addDue([row('ord_1', 2)])
    started.end()
    expect(take()).toBe('ord_1 1')
    queue.trim(0)
    expect(queue.size()).toBe(0)
  })

  it('a queue without work is empty', () => {
    expect(queue.isEmpty()).toBe(true)
    expect(queue.wakeAt()).toBe(NEVER)
    offer(row('ord_1'))
    const taken = takeRow()
    expect(queue.isEmpty()).toBe(false)
    succeed(taken)
    expect(queue.isEmpty()).toBe(true)
  })
})

describe('an order that the account no longer has', () => {
  it('its failing delivery blocks nothing any more', () => {
    offer(row('ord_1', 1))
    fail(takeRow())
    queue.forget('ord_1')
    offer(row('ord_1', 2))
    expect(take()).toBe('ord_1 2')
  })

  it('its delivery in progress is marked, and its next event is not left in the store', () => {
    offer(row('ord_1', 1))
    const taken = takeRow()
    read([]) // It excludes the order.
    queue.forget('ord_1')
    expect(queue.isForgotten(taken)).toBe(true)
    queue.putBack(taken)
    read([])
    offer(row('ord_1', 2))
    const next = takeRow()
    expect([nameOf(next), queue.isForgotten(next)]).toEqual(['ord_1 2', false])
  })
  it('a read in progress returns its deliveries as they were, and they are dropped', () => {
    const failing = row('ord_1', 1, { firstFailedAt: 0 })
    queue.reset()
    const reading = queue.beginRead()
    queue.forget('ord_1')
    reading.addFailing([failing], 1)
    expect(queue.hasFailing()).toBe(false)
    reading.exclusions()
    reading.addDue([row('ord_1', 2), row('ord_2')])
    reading.complete(null, 1)
    expect([take(), take(), queue.hasMore()]).toEqual(['ord_2 1', null, true])
  })

  it('the failure of its delivery in progress, stored before, blocks nothing', () => {
    offer(row('ord_1'))
    const taken = takeRow()
    queue.forget('ord_1')
    fail(taken)
    expect([queue.hasFailing(), queue.hasMore()]).toEqual([false, true])
  })
})
