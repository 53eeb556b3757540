import { beforeEach, describe, expect, it } from 'vitest'
import { createFailingEndpoints } from '../../../../../src/webhooks/dispatcher/health/failing-endpoints.ts'
import { createLane, type Lane } from '../../../../../src/webhooks/dispatcher/lanes/lane.ts'
import { delivery } from '../../../../support/webhooks/delivery.ts'
import { endpoint } from '../../../../support/webhooks/endpoint.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
/** When the schedule of a failure at 0 has ended. */
const ENDED = 72 * HOUR

const failing = endpoint({ failingSince: 0, noticesSent: 2 })
let nowMs: number
let lane: Lane
beforeEach(() => {
  nowMs = ENDED
  lane = createLane(failing, { count: 0, limit: 100 }, 0)
})

function offer(orderId: string): void {
  lane.queue.offer({ ...delivery({ event: { orderId } }), revision: 1 }, 100, lane.queue.reads())
}

/** A failed attempt now, which is stored. */
function fail(subject: string, isProbe = false): void {
  const isRetry = false
  lane.breaker.recordFailure({ subject, isProbe, isRetry, retryAfterMs: null, nowMs })
  lane.failures = { firstAt: lane.failures?.firstAt ?? nowMs, lastAt: nowMs }
}

function isDisabled(): boolean {
  const disabled: string[] = []
  createFailingEndpoints({
    directory: { all: () => [failing].values() },
    lanes: { of: () => lane },
    health: { set() {} },
    lifecycle: { disable: ({ id }) => disabled.push(id) },
    clock: () => nowMs,
    giveUpMs: ENDED,
    notify() {},
  })()
  return disabled.length > 0
}

describe('an endpoint without a success during the whole schedule', () => {
  it('is disabled when nothing is pending, and no earlier', () => {
    expect(isDisabled()).toBe(true)
    nowMs -= 1
    expect(isDisabled()).toBe(false)
  })

  it('is not disabled before an attempt since the end while one is due later', () => {
    lane.queue.readAt(nowMs + HOUR)
    expect(isDisabled()).toBe(false)
    nowMs -= 1
    fail('ord_1')
    nowMs += 1
    expect(isDisabled()).toBe(false)
    fail('ord_1')
    expect(isDisabled()).toBe(true)
  })

  it('is disabled after a failure since the end, once all results are stored', () => {
    offer('ord_1')
    const taken = lane.queue.take()
    if (taken === null) throw new Error('expected a delivery')
    expect(isDisabled()).toBe(false)
    fail('ord_1')
    expect(isDisabled()).toBe(false)
    lane.queue.settle(taken, { ...taken, firstFailedAt: nowMs, nextAt: nowMs + HOUR }, nowMs)
    expect(isDisabled()).toBe(true)
  })

  it('is disabled 18 hours later at last while an attempt is in progress', () => {
    offer('ord_1')
    lane.queue.take()
    nowMs = 90 * HOUR + MINUTE - 1
    lane.failures = { firstAt: 0, lastAt: nowMs }
    expect(isDisabled()).toBe(false)
    nowMs += 1
    expect(isDisabled()).toBe(true)
  })

  it('is not disabled before other due deliveries are attempted', () => {
    offer('ord_2')
    fail('ord_1')
    expect(isDisabled()).toBe(false)
    lane.queue.reset()
    expect(isDisabled()).toBe(false)
    const read = lane.queue.beginRead()
    lane.isReadPending = true
    expect(isDisabled()).toBe(false)
    read.complete(nowMs + HOUR, nowMs)
    lane.isReadPending = false
    expect(isDisabled()).toBe(true)
  })

  it('is not disabled after a long stop before others were attempted, for 18 hours', () => {
    nowMs = 1_000 * HOUR
    offer('ord_2')
    fail('ord_1')
    nowMs += 18 * HOUR + MINUTE - 1
    expect(isDisabled()).toBe(false)
    nowMs += 1
    expect(isDisabled()).toBe(true)
  })

  it('is disabled after five failed probes when its breaker was open before', () => {
    lane = createLane({ ...failing, isBreakerOpen: true }, { count: 0, limit: 100 }, 0)
    lane.queue.readAt(0)
    for (const count of [1, 2, 3, 4, 5]) {
      lane.breaker.startProbe()
      fail('ord_1', true)
      expect(isDisabled()).toBe(count === 5)
    }
  })

  it('is disabled when failures of five orders opened its breaker', () => {
    lane.queue.readAt(0)
    lane.queue.advance(nowMs)
    for (const count of [1, 2, 3, 4, 5]) {
      fail(`ord_${count}`)
      expect(isDisabled()).toBe(count === 5)
    }
  })
})
