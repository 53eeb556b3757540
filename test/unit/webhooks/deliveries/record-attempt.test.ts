import { describe, expect, it } from 'vitest'
import {
  type Attempt,
  type Delivery,
  pendingAt,
} from '../../../../src/webhooks/deliveries/delivery.ts'
import {
  isSuccess,
  recordAttempt,
  recordUnread,
} from '../../../../src/webhooks/deliveries/record-attempt.ts'
import { createRetrySchedule } from '../../../../src/webhooks/deliveries/retry-schedule.ts'
import { attempt, delivery, deliveryOf, testEvent } from '../../../support/webhooks/delivery.ts'

const schedule = createRetrySchedule([0, 5_000, 30_000], () => 0.5)
const options = { schedule, nowMs: 20_010, retryAfterMs: null, isProbe: false }
const accepted = attempt({ status: 204, error: null })

describe('a delivery after an attempt', () => {
  it.each([
    [200, null, true],
    [299, null, true],
    [300, null, false],
    [199, null, false],
    [500, null, false],
    [200, 'the response headers were too large', false],
    [null, 'the connection was refused', false],
  ])('the status %s with the error %j is a success: %s', (status, error, expected) => {
    expect(isSuccess({ status, error })).toBe(expected)
  })

  it('a 2xx makes it delivered', () => {
    expect(recordAttempt(delivery(), accepted, options)).toEqual(
      delivery({ state: 'delivered', nextAt: null, attempts: [accepted] }),
    )
  })

  it('a failure uses a step, and makes it due after the delay of that step', () => {
    const failed = recordAttempt(delivery(), attempt(), options)
    expect(failed).toEqual(
      delivery({ attempts: [attempt()], step: 1, firstFailedAt: 20_010, nextAt: 25_010 }),
    )
    const again = recordAttempt(failed, attempt({ at: 26_000 }), { ...options, nowMs: 27_000 })
    expect(again).toMatchObject({ step: 2, firstFailedAt: 20_010, nextAt: 57_000 })
  })

  it('Retry-After makes it due later', () => {
    const failed = recordAttempt(delivery(), attempt(), { ...options, retryAfterMs: 60_000 })
    expect(failed.nextAt).toBe(80_010)
  })

  it('the last failure makes it expired', () => {
    const failed = recordAttempt(delivery({ step: 2 }), attempt(), options)
    expect(failed).toMatchObject({ state: 'expired', nextAt: null, step: 3 })
  })

  it('a 410 makes it failed', () => {
    const gone = recordAttempt(delivery(), attempt({ status: 410 }), options)
    expect(gone).toMatchObject({ state: 'failed', nextAt: null, step: 0 })
  })

  it('a failed probe is recorded, uses no step and stays due', () => {
    const failed = recordAttempt(delivery({ step: 2 }), attempt(), { ...options, isProbe: true })
    expect(failed).toMatchObject({ state: 'pending', step: 2, nextAt: 10_000 })
    expect(failed.attempts).toHaveLength(1)
  })

  it('a test event whose probe failed is due after the deliveries that are due now', () => {
    const failed = recordAttempt(deliveryOf(testEvent()), attempt(), { ...options, isProbe: true })
    expect(failed).toMatchObject({ state: 'pending', step: 0, nextAt: 20_010 })
  })

  it('only the last 50 attempts are kept', () => {
    const attempts = Array.from({ length: 50 }, (_, at): Attempt => attempt({ at }))
    const failed = recordAttempt(delivery({ attempts }), attempt({ at: 50 }), options)
    expect(failed.attempts.map(({ at }) => at)).toEqual([...attempts.keys()].map((at) => at + 1))
  })
})

const MINUTE = 60_000
const missing = (at: number) => attempt({ at, status: null, error: 'the order is missing' })
const recordMissing = (last: Delivery, read: Attempt, nowMs: number) =>
  recordUnread(last, read, { isMissing: true, nowMs })

describe('a delivery whose order is missing', () => {
  const readAt = (...instants: number[]) =>
    instants.reduce((last, at) => recordMissing(last, missing(at), at + 10), delivery())

  it('it is due again after five seconds, uses no step and fails since the first read', () => {
    expect(readAt(20_000)).toEqual(
      delivery({ attempts: [missing(20_000)], firstFailedAt: 20_010, nextAt: 25_010 }),
    )
  })

  it('it is then due after the time for which it has been missing', () => {
    expect(readAt(0, 5_000, 10_000)).toMatchObject({ firstFailedAt: 10, nextAt: 20_010 })
  })

  it('it is canceled after five minutes', () => {
    const reads = [0, 5_000, 10_000, 20_000, 40_000]
    expect(readAt(...reads, 5 * MINUTE - 1).state).toBe('pending')
    expect(readAt(...reads, 5 * MINUTE)).toMatchObject({ state: 'canceled', nextAt: null })
  })

  it('it is read six times at least, since no dispatcher may have run for most of the time', () => {
    const late = [10 * MINUTE, 11 * MINUTE, 12 * MINUTE, 13 * MINUTE]
    expect(readAt(0, ...late)).toMatchObject({ state: 'pending', nextAt: 13 * MINUTE + 5_010 })
    expect(readAt(0, ...late, 14 * MINUTE).state).toBe('canceled')
  })

  it('earlier failures of the endpoint do not count', () => {
    const failed = recordAttempt(delivery(), attempt({ at: 0 }), options)
    const postponed = recordMissing(failed, missing(9 * MINUTE), 9 * MINUTE)
    expect(postponed).toMatchObject({
      state: 'pending',
      step: 1,
      firstFailedAt: failed.firstFailedAt,
      nextAt: 9 * MINUTE + 5_000,
    })
  })

  it('an attempt whose request is sent ends that time', () => {
    const sent = recordAttempt(readAt(0), attempt({ at: MINUTE }), options)
    expect(recordMissing(sent, missing(9 * MINUTE), 9 * MINUTE).state).toBe('pending')
  })

  it('the time before a resend does not count', () => {
    const reads = [0, 1, 2, 3, 4, 5].map((minute) => minute * MINUTE)
    let last: Delivery = { ...readAt(...reads), ...pendingAt(9 * MINUTE) }
    const states = [9, 10, 14].map((minute) => {
      last = recordMissing(last, missing(minute * MINUTE), minute * MINUTE)
      return last.state
    })
    expect(states).toEqual(['pending', 'pending', 'canceled'])
  })

  it('it is due after five seconds though the clock was set back', () => {
    expect(recordMissing(readAt(MINUTE), missing(0), MINUTE).nextAt).toBe(MINUTE + 5_000)
  })
})

describe('a delivery whose order is unreadable', () => {
  const unreadable = (at: number) => attempt({ at, status: null, error: 'the order is unreadable' })
  const recordUnreadable = (last: Delivery, at: number) =>
    recordUnread(last, unreadable(at), { isMissing: false, nowMs: at })

  it('it is due again within five minutes, however long that lasts', () => {
    const delays = [0, 5_000, 2 * MINUTE, 6 * MINUTE, 600 * MINUTE]
    let last: Delivery = delivery()
    const found = delays.map((at) => {
      last = recordUnreadable(last, at)
      expect(last).toMatchObject({ state: 'pending', step: 0, firstFailedAt: 0 })
      return (last.nextAt ?? 0) - at
    })
    expect(found).toEqual([5_000, 5_000, 2 * MINUTE, 5 * MINUTE, 5 * MINUTE])
  })

  it('that time does not count as one in which it is missing', () => {
    const last = recordMissing(recordUnreadable(delivery(), 0), missing(6 * MINUTE), 6 * MINUTE)
    expect(last).toMatchObject({ state: 'pending', nextAt: 6 * MINUTE + 5_000 })
  })
})
