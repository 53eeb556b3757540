import { describe, expect, it } from 'vitest'
import { createLane, type Lane } from '../../../../../src/webhooks/dispatcher/lanes/lane.ts'
import { createLaneScheduler } from '../../../../../src/webhooks/dispatcher/lanes/lane-scheduler.ts'
import type { Endpoint } from '../../../../../src/webhooks/endpoints/endpoint.ts'
import { delivery } from '../../../../support/webhooks/delivery.ts'
import { endpoint } from '../../../../support/webhooks/endpoint.ts'

const LIMITS = { total: 16, restricted: 4 }
const trusted = { lastSuccessAt: 1 }
const failing = { lastSuccessAt: 1, failingSince: 1 }
const unproven = {}

/** A lane whose last success, if any, is recent. */
function lane(id: string, changes: Partial<Endpoint> = {}, deliveries = 100): Lane {
  const created = createLane(endpoint({ id, ...changes }), { count: 0, limit: 4_096 }, 0)
  created.lastSucceededAt = changes.lastSuccessAt ?? null
  for (let index = 0; index < deliveries; index++) {
    const offered = delivery({ endpointId: id, event: { orderId: `ord_${index}` } })
    created.queue.offer({ ...offered, revision: 1 }, deliveries, 0)
  }
  return created
}

function schedule(...lanes: Lane[]) {
  const scheduler = createLaneScheduler(LIMITS)
  for (const added of lanes) scheduler.update(added, 0)

  /** Starts a request; returns the id of its endpoint. */
  function start(): string | null {
    const next = scheduler.next(0)
    if (next === null) return null
    next.queue.take()
    scheduler.start(next, 0)
    scheduler.update(next, 0)
    return next.endpointId
  }
  const startAll = () => {
    const started: string[] = []
    for (let id = start(); id !== null; id = start()) started.push(id)
    return started
  }
  return { ...scheduler, startOne: start, startAll }
}

/** Of a request of a trusted lane with a recent success. */
const share = { isRestricted: false, isUnresponsive: false, isSlow: false }
const ids = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

describe('the scheduler of lanes', () => {
  it('lanes take turns', () => {
    const { startAll } = schedule(lane('a', trusted, 3), lane('b', trusted, 2))
    expect(startAll()).toEqual(['a', 'b', 'a', 'b', 'a'])
  })

  it('an endpoint has at most 8 requests in flight at first', () => {
    expect(schedule(lane('a', trusted)).startAll()).toHaveLength(8)
  })

  it.each([
    ['has never succeeded', unproven],
    ['was failing', failing],
  ])('an endpoint that %s starts with one request', (_name, changes) => {
    expect(schedule(lane('a', changes)).startAll()).toEqual(['a'])
  })

  it('the process has no more requests in flight than its limit', () => {
    const scheduler = schedule(...ids('t', 20).map((id) => lane(id, trusted)))
    expect(scheduler.startAll()).toHaveLength(16)
    expect(scheduler.inFlight()).toBe(16)
  })

  it('endpoints that fail or are unproven share their part of it', () => {
    const scheduler = schedule(
      ...ids('f', 10).map((id) => lane(id, failing)),
      ...ids('u', 10).map((id) => lane(id, unproven)),
    )
    expect(scheduler.startAll()).toEqual(['u0', 'f0', 'u1', 'f1'])
    expect(scheduler.restrictedInFlight()).toBe(4)
  })

  it('their part is kept free for them while trusted endpoints have more work', () => {
    const scheduler = schedule(
      ...ids('t', 20).map((id) => lane(id, trusted)),
      ...ids('f', 10).map((id) => lane(id, failing)),
    )
    const started = scheduler.startAll()
    expect(started.filter((id) => id.startsWith('t'))).toHaveLength(12)
    expect(started.filter((id) => id.startsWith('f'))).toHaveLength(4)
  })

  it('a slow request of a trusted endpoint takes no place of a restricted one', () => {
    const slow = lane('t', trusted, 0)
    const scheduler = schedule(slow)
    const shares = [1, 2, 3, 4].map(() => scheduler.start(slow, 0))
    for (const taken of shares) scheduler.markSlow(taken)
    expect(scheduler.restrictedInFlight()).toBe(4)
    scheduler.update(lane('f', failing), 0)
    expect(scheduler.startOne()).toBe('f')
    for (const taken of shares) scheduler.finish(slow, taken)
    expect([scheduler.inFlight(), scheduler.restrictedInFlight()]).toEqual([1, 1])
  })

  it('a slow endpoint is restricted', () => {
    const slow = lane('t', trusted)
    slow.isSlow = true
    expect(schedule(slow).startAll()).toHaveLength(4)
  })

  describe('when a fifth of the requests is in flight', () => {
    it('a single endpoint has as many as before', () => {
      expect(schedule(lane('a', trusted)).startAll()).toHaveLength(8)
    })

    it('endpoints have equal parts of four fifths, however recent their success', () => {
      const scheduler = schedule(...ids('t', 4).map((id) => lane(id, trusted)))
      const started = scheduler.startAll()
      const counts = Map.groupBy(started, (id) => id).values()
      expect([...counts].map(({ length }) => length)).toEqual([3, 3, 3, 3])
    })

    it('endpoints whose deliveries are not read yet keep their parts', () => {
      const unread = ids('u', 3).map((id) => lane(id, trusted, 0))
      for (const { queue } of unread) queue.readAt(0)
      for (const { queue } of unread) queue.advance(0)
      const scheduler = schedule(lane('a', trusted), ...unread)
      expect(scheduler.startAll()).toEqual(['a', 'a', 'a', 'a'])
    })

    it.each<[string, (lane: Lane) => void]>([
      [
        'wait for the next probe',
        ({ breaker }) => {
          for (const subject of ids('ord', 5)) {
            const failure = { subject, isProbe: false, isRetry: false, retryAfterMs: null }
            breaker.recordFailure({ ...failure, nowMs: 0 })
          }
        },
      ],
      [
        'are stopped',
        (stopped) => {
          stopped.isStopped = true
        },
      ],
    ])(
      'endpoints that %s have no part, although deliveries of them are not read',
      (_name, halt) => {
        const unread = ids('u', 3).map((id) => lane(id, trusted, 0))
        for (const { queue } of unread) queue.readAt(0)
        for (const { queue } of unread) queue.advance(0)
        for (const halted of unread) halt(halted)
        const scheduler = schedule(lane('a', trusted), ...unread)
        expect(scheduler.startAll()).toHaveLength(8)
      },
    )

    it('endpoints keep them during a read, and give them up when it returns nothing', () => {
      const read = ids('r', 3).map((id) => lane(id, trusted, 0))
      for (const { queue } of read) queue.beginRead()
      for (const reading of read) reading.isReadPending = true
      const scheduler = schedule(lane('a', trusted), ...read)
      expect(scheduler.startAll()).toHaveLength(4)
      for (const reading of read) reading.isReadPending = false
      for (const reading of read) scheduler.update(reading, 0)
      scheduler.update(lane('b', trusted), 0)
      expect(scheduler.startAll()).toEqual(Array(6).fill('b'))
    })

    it('an endpoint that finishes a request starts the next one', () => {
      const [finishing, ...others] = ids('t', 4).map((id) => lane(id, trusted))
      if (finishing === undefined) throw new Error('no lane')
      const scheduler = schedule(finishing, ...others)
      scheduler.startAll()
      scheduler.finish(finishing, share)
      scheduler.update(finishing, 0)
      expect(scheduler.startAll()).toEqual(['t0'])
    })

    it('all have more again when few requests are in flight', () => {
      const finishing = ids('t', 10).map((id) => lane(id, trusted))
      const scheduler = schedule(...finishing)
      expect(scheduler.startAll()).toHaveLength(10)
      for (const ended of finishing.slice(0, 7)) scheduler.finish(ended, share)
      expect(scheduler.startOne()).not.toBeNull()
    })
  })

  describe('endpoints that were healthy, and have not succeeded since', () => {
    const unresponsive = (id: string) => {
      const created = lane(id, trusted)
      created.lastSucceededAt = null
      return created
    }

    it('leave a fifth of the requests to those that respond', () => {
      const scheduler = schedule(...ids('s', 20).map(unresponsive))
      expect(scheduler.startAll()).toEqual(ids('s', 13))
      for (const id of ids('t', 3)) scheduler.update(lane(id, trusted), 0)
      expect(scheduler.startAll()).toEqual(ids('t', 3))
    })

    it('wait until one of them ends', () => {
      const lanes = ids('s', 14).map(unresponsive)
      const scheduler = schedule(...lanes)
      expect(scheduler.startAll()).toEqual(ids('s', 13))
      const [ended] = lanes
      if (ended === undefined) throw new Error('no lane')
      ended.isStopped = true
      scheduler.finish(ended, { ...share, isUnresponsive: true })
      expect(scheduler.startAll()).toEqual(['s13'])
    })

    it('do not delay a new endpoint', () => {
      const scheduler = schedule(...ids('s', 20).map(unresponsive))
      scheduler.startAll()
      scheduler.update(lane('new', unproven), 0)
      expect(scheduler.startAll()).toEqual(['new'])
    })
  })

  it('a stopped endpoint has no turn', () => {
    const stopped = lane('a', trusted)
    const scheduler = schedule(stopped)
    stopped.isStopped = true
    expect(scheduler.startAll()).toEqual([])
  })

  it('an open breaker allows one request, when its probe is due', () => {
    const open = lane('a', { ...failing, isBreakerOpen: true }, 0)
    open.queue.beginRead().addDue([{ ...delivery(), revision: 1 }])
    const scheduler = schedule(open)
    expect(scheduler.next(-1)).toBeNull()
    scheduler.update(open, 0)
    expect(scheduler.next(0)).toBe(open)
    open.breaker.startProbe()
    scheduler.update(open, 0)
    expect(scheduler.next(0)).toBeNull()
  })
})
