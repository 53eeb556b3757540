import { beforeEach, describe, expect, it } from 'vitest'
import {
  createRetrySchedule,
  DEFAULT_RETRY_DELAYS_MS,
} from '../../../../src/webhooks/deliveries/retry-schedule.ts'
import type { DispatcherSettings } from '../../../../src/webhooks/dispatcher/dispatcher-settings.ts'
import { minRetentionMs } from '../../../../src/webhooks/dispatcher/housekeeping.ts'
import { HEALTHY } from '../../../../src/webhooks/endpoints/endpoint-health.ts'
import { delivery } from '../../../support/webhooks/delivery.ts'
import {
  type Dispatching,
  eventually,
  openDispatching,
  quietPeriod,
} from '../../../support/webhooks/dispatching.ts'
import type { Reply } from '../../../support/webhooks/sending/recording-receiver.ts'
import { withDeliveries } from '../../../support/webhooks/stores/stubbed-stores.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe.each(useWebhookStores())('retries on %s', (_name, open) => {
  let dispatching: Dispatching
  let reply: Reply
  beforeEach(async () => {
    dispatching = await openDispatching(open)
    reply = { status: 500 }
    dispatching.receiver.reply = () => reply
  })

  const attempted = (count: number) =>
    eventually(() => expect(dispatching.attempts).toHaveLength(count))

  async function only(endpointId: string) {
    const [delivery, ...others] = await dispatching.deliveries(endpointId)
    if (delivery === undefined || others.length > 0) throw new Error('expected one delivery')
    return delivery
  }

  it('a delivery is attempted 16 times over 72 hours, under one webhook-id, then expires', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1')
    const startedAt = dispatching.time.clock()
    for (let count = 1; count < 16; count++) {
      await attempted(count)
      await dispatching.advanceToRetry(id, 'ord_1 1', count)
    }
    await attempted(16)
    expect(Math.round((dispatching.time.clock() - startedAt) / HOUR)).toBe(72)
    await eventually(async () => expect((await only(id)).state).toBe('expired'))
    expect((await only(id)).attempts).toHaveLength(16)
    expect(new Set(dispatching.receiver.received.map(({ body }) => body.id)).size).toBe(1)
    expect(dispatching.attempts.at(-1)).toMatchObject({ outcome: 'expired', attempt: 16 })
  })

  it('a retry is no later after the clock was set back', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1')
    await attempted(1)
    await eventually(async () => expect((await only(id)).attempts).toHaveLength(1))
    dispatching.time.setBack(HOUR)
    // Due after 20 s, and a little later while the clock is behind.
    dispatching.time.advance(25_000)
    await attempted(2)
  })

  it('a retry by a clock that was a year ahead is due after the longest delay at most', async () => {
    const { id } = await dispatching.subscribe()
    const first = dispatching.start()
    await dispatching.announce('ord_1')
    await eventually(async () => expect((await only(id)).attempts).toHaveLength(1))
    await first.stop()
    dispatching.time.setBack(365 * 24 * HOUR)
    dispatching.start()
    await eventually(async () =>
      expect((await only(id)).nextAt).toBeLessThanOrEqual(dispatching.time.clock() + 15 * HOUR),
    )
    dispatching.time.advance(15 * HOUR)
    await attempted(2)
  })

  it('a first failure by a clock that was a year ahead does not block its order again', async () => {
    const { id } = await dispatching.subscribe({ createdAt: 0 })
    const first = dispatching.start()
    await dispatching.announce('ord_1')
    const failing = async () => (await dispatching.deliveries(id))[0]
    await eventually(async () => expect((await failing())?.attempts).toHaveLength(1))
    await first.stop()
    dispatching.time.setBack(365 * 24 * HOUR)
    dispatching.start()
    await eventually(async () =>
      expect((await failing())?.nextAt).toBeLessThanOrEqual(dispatching.time.clock() + 15 * HOUR),
    )
    dispatching.time.advance(15 * HOUR)
    await attempted(2)
    await eventually(async () => expect((await failing())?.attempts).toHaveLength(2))
    // The retry failed, and after it the second event is sent at once.
    await dispatching.announce('ord_1')
    await attempted(3)
    expect(dispatching.receivedOrders()).toEqual(['ord_1 1', 'ord_1 1', 'ord_1 2'])
  })

  it('an event that was planned by a clock that was hours ahead is sent at once', async () => {
    const { id, accountId } = await dispatching.subscribe()
    const nextAt = dispatching.time.clock() + 5 * HOUR
    await dispatching.stores.deliveries.create([delivery({ endpointId: id, accountId, nextAt })])
    dispatching.start()
    await attempted(1)
  })

  it('an endpoint stays enabled for 72 hours, also after a shorter schedule', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.start({ schedule: createRetrySchedule([0], () => 0.5) })
    await dispatching.announce('ord_1')
    await eventually(async () => expect((await only(id)).state).toBe('expired'))
    dispatching.time.advance(71 * HOUR)
    await quietPeriod()
    const { endpoints } = dispatching.stores
    expect(await endpoints.byId(id)).toMatchObject({ disabledReason: null })
    dispatching.time.advance(HOUR)
    await eventually(async () =>
      expect(await endpoints.byId(id)).toMatchObject({ disabledReason: 'failing' }),
    )
  })

  it('an endpoint without a success during the whole schedule is disabled', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.start({
      schedule: createRetrySchedule([0, 10_000, 20_000], () => 0.5),
      settings: { giveUpMs: 0 },
    })
    await dispatching.announce('ord_1')
    for (const count of [1, 2]) {
      await attempted(count)
      await dispatching.advanceToRetry(id, 'ord_1 1', count)
    }
    await attempted(3)
    dispatching.time.advance(1_000)
    await eventually(async () =>
      expect(await dispatching.stores.endpoints.byId(id)).toMatchObject({
        disabledReason: 'failing',
        noticesSent: 3,
      }),
    )
    expect((await only(id)).state).toBe('expired')
    await dispatching.announce('ord_2')
    await eventually(async () =>
      expect((await dispatching.deliveries(id)).at(-1)).toMatchObject({ state: 'held' }),
    )
    await eventually(() =>
      expect(dispatching.notices).toMatchObject([
        { kind: 'disabled', endpointId: id, disabledReason: 'failing' },
      ]),
    )
  })

  it('an endpoint whose only failing delivery was canceled is healthy after the whole schedule', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.receiver.reply = () => ({ status: 500 })
    dispatching.start()
    await dispatching.announce('ord_1')
    await attempted(1)
    dispatching.views.set('ord_1', null)
    await dispatching.advanceToRetry(id, 'ord_1 1', 1)
    await eventually(async () => expect((await only(id)).state).toBe('canceled'))
    dispatching.time.advance(72 * HOUR)
    await eventually(async () =>
      expect(await dispatching.stores.endpoints.byId(id)).toMatchObject({
        disabledReason: null,
        failingSince: null,
      }),
    )
    dispatching.receiver.reply = () => ({ status: 200 })
    await dispatching.announce('ord_2')
    await eventually(() => expect(dispatching.receivedOrders()).toEqual(['ord_1 1', 'ord_2 1']))
  })

  it('an endpoint is disabled whose failing delivery failed also before its last success', async () => {
    const { id } = await dispatching.subscribe()
    const { endpoints } = dispatching.stores
    dispatching.start()
    await dispatching.announce('ord_1')
    await attempted(1)
    reply = { status: 200 }
    await dispatching.announce('ord_2')
    await dispatching.delivers(id, 1)
    reply = { status: 500 }
    await dispatching.advanceToRetry(id, 'ord_1 1', 1)
    await attempted(3)
    await eventually(async () => expect((await endpoints.byId(id))?.failingSince).not.toBeNull())
    dispatching.time.advance(72 * HOUR + MINUTE)
    await attempted(4)
    await eventually(async () =>
      expect(await endpoints.byId(id)).toMatchObject({ disabledReason: 'failing' }),
    )
  })

  describe('an endpoint that failed once, long before the dispatcher started again', () => {
    let response: PromiseWithResolvers<Reply>
    let id: string
    beforeEach(async () => {
      id = (await dispatching.subscribe()).id
      const first = dispatching.start()
      await dispatching.announce('ord_1')
      await eventually(async () => expect((await only(id)).attempts).toHaveLength(1))
      await first.stop()
      dispatching.time.advance(91 * HOUR)
      response = Promise.withResolvers<Reply>()
      dispatching.receiver.reply = () => response.promise
      dispatching.start()
      await eventually(() => expect(dispatching.receiver.received).toHaveLength(2))
      await quietPeriod()
    })

    it('is healthy when it accepts the next attempt', async () => {
      response.resolve({ status: 200 })
      await eventually(async () => expect(await only(id)).toMatchObject({ state: 'delivered' }))
      await eventually(async () =>
        expect(await dispatching.stores.endpoints.byId(id)).toMatchObject({
          disabledReason: null,
          failingSince: null,
        }),
      )
      expect(dispatching.notices.map(({ kind }) => kind)).not.toContain('disabled')
    })

    it('is disabled when it rejects the next attempt', async () => {
      response.resolve({ status: 500 })
      await eventually(async () =>
        expect(await dispatching.stores.endpoints.byId(id)).toMatchObject({
          disabledReason: 'failing',
        }),
      )
    })
  })

  describe.each([false, true])(
    'an endpoint that failed long before a stop of 91 hours (open breaker: %s)',
    (isBreakerOpen) => {
      let id: string
      beforeEach(async () => {
        const at = dispatching.time.clock() - 91 * HOUR
        const failing = { isBreakerOpen, failingSince: at, noticesSent: 2 }
        id = (await dispatching.subscribe(failing)).id
        const due = Array.from({ length: 6 }, (_, n) =>
          delivery({
            ...{ endpointId: id, nextAt: at + n },
            event: { orderId: `ord_${n}`, recordedAt: at + n },
          }),
        )
        await dispatching.stores.deliveries.create(due)
      })

      async function sendProbes(): Promise<void> {
        for (let count = 1; isBreakerOpen && count < 5; count += 1) {
          await eventually(() => expect(dispatching.attempts.length).toBeGreaterThanOrEqual(count))
          await quietPeriod()
          dispatching.time.advance(MINUTE * 10)
        }
      }
      const states = async () => (await dispatching.deliveries(id)).map(({ state }) => state)
      const disabledReason = async () =>
        (await dispatching.stores.endpoints.byId(id))?.disabledReason

      it('stays enabled when it rejects the first order and accepts the others', async () => {
        dispatching.receiver.reply = ({ body }) => ({
          status: body.order_id === 'ord_0' ? 500 : 200,
        })
        dispatching.start()
        await sendProbes()
        await eventually(async () =>
          expect(await states()).toEqual(['pending', ...Array(5).fill('delivered')]),
        )
        expect(await disabledReason()).toBeNull()
      })

      it('is disabled when it rejects all', async () => {
        dispatching.start()
        await sendProbes()
        await eventually(async () => expect(await disabledReason()).toBe('failing'))
        expect(dispatching.attempts).toHaveLength(5)
      })
    },
  )

  it('an endpoint that is enabled while its last attempt fails stays enabled', async () => {
    const { stores, receiver, time } = dispatching
    const failingSince = time.clock() - 91 * HOUR
    const { id } = await dispatching.subscribe({ failingSince, noticesSent: 2 })
    // Before the start, which disables a failing endpoint without anything to send.
    await stores.deliveries.create([delivery({ endpointId: id })])
    const last = Promise.withResolvers<Reply>()
    receiver.reply = () => last.promise
    const refreshMs = 20_000
    dispatching.start({ settings: { refreshMs } })
    await eventually(() => expect(receiver.received).toHaveLength(1))
    await dispatching.change(id, HEALTHY)
    last.resolve({ status: 500 })
    await eventually(async () => expect((await only(id)).attempts).toHaveLength(1))
    await quietPeriod()
    expect(await stores.endpoints.byId(id)).toMatchObject({ disabledReason: null })
    receiver.reply = () => ({ status: 200 })
    time.advance(refreshMs)
    await eventually(async () => expect(await only(id)).toMatchObject({ state: 'delivered' }))
    expect(dispatching.notices).toEqual([])
  })

  it('what is held for 7 days expires', async () => {
    const { id } = await dispatching.subscribe({ disabledReason: 'manual' })
    dispatching.start()
    await dispatching.announce('ord_1')
    await eventually(async () => expect(await only(id)).toMatchObject({ state: 'held' }))
    dispatching.time.advance(7 * 24 * HOUR + 1)
    await eventually(async () => expect(await only(id)).toMatchObject({ state: 'expired' }))
    expect(dispatching.receiver.received).toEqual([])
  })

  it('Retry-After makes the next attempt later', async () => {
    reply = { status: 503, headers: { 'retry-after': '120' } }
    const { id } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1')
    await attempted(1)
    const delivery = await eventually(async () => {
      const found = await only(id)
      expect(found.attempts).toHaveLength(1)
      return found
    })
    const [attempt] = delivery.attempts
    expect(Math.round(((delivery.nextAt ?? 0) - (attempt?.at ?? 0)) / 1_000)).toBe(120)
  })

  it('what failed for 72 hours and was held then stays for a day with the shortest retention', async () => {
    const { id } = await dispatching.subscribe()
    const retentionMs = minRetentionMs(DEFAULT_RETRY_DELAYS_MS)
    dispatching.start({ settings: { retentionMs, housekeepingMs: 5 } })
    await dispatching.announce('ord_1')
    await attempted(1)
    dispatching.time.advance(72 * HOUR)
    await attempted(2)
    await dispatching.change(id, { disabledReason: 'manual' })
    await eventually(async () => expect(await only(id)).toMatchObject({ state: 'held' }))
    dispatching.time.advance(7 * 24 * HOUR + 1)
    await eventually(async () => expect(await only(id)).toMatchObject({ state: 'expired' }))
    dispatching.time.advance(24 * HOUR)
    await quietPeriod()
    expect(await only(id)).toMatchObject({ state: 'expired' })
    dispatching.time.advance(24 * HOUR)
    await eventually(async () => expect(await dispatching.deliveries(id)).toEqual([]))
  })

  it('a redirect is a failure, and is not followed', async () => {
    reply = { status: 302, headers: { location: dispatching.receiver.url('/elsewhere') } }
    await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1')
    await attempted(1)
    expect(dispatching.attempts).toMatchObject([{ outcome: 'retrying', status: 302 }])
    expect(dispatching.receiver.received.map(({ path }) => path)).toEqual(['/hooks'])
  })

  it('a 410 fails the delivery, disables the endpoint and holds what is pending', async () => {
    dispatching.receiver.reply = ({ body }) => ({ status: body.order_id === 'ord_1' ? 410 : 500 })
    const { id } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_2')
    await attempted(1)
    await dispatching.announce('ord_1')
    await eventually(async () =>
      expect(await dispatching.stores.endpoints.byId(id)).toMatchObject({ disabledReason: 'gone' }),
    )
    await eventually(async () =>
      expect(await dispatching.deliveries(id)).toMatchObject([
        { state: 'held', nextAt: null, event: { orderId: 'ord_2' } },
        { state: 'failed', nextAt: null, attempts: [{ status: 410 }] },
      ]),
    )
    await eventually(() => expect(dispatching.notices).toHaveLength(1))
    expect(dispatching.notices).toMatchObject([{ kind: 'disabled', disabledReason: 'gone' }])
    dispatching.time.advance(MINUTE)
    await quietPeriod()
    expect(dispatching.receiver.received).toHaveLength(2)
  })

  it('a replay since the first failure of an endpoint includes the delivery that failed', async () => {
    reply = { status: 410 }
    const { id } = await dispatching.subscribe()
    await dispatching.announce('ord_1')
    dispatching.time.advance(MINUTE)
    dispatching.start()
    await eventually(() => expect(dispatching.notices).toHaveLength(1))
    const sinceMs = (await dispatching.stores.endpoints.byId(id))?.failingSince ?? 0
    expect((await only(id)).event.recordedAt).toBeLessThan(sinceMs)
    const replay = { endpointId: id, sinceMs, failedOnly: true, nowMs: dispatching.time.clock() }
    expect(await dispatching.stores.deliveries.replay(replay)).toBe(1)
  })

  it('a replay since the first failure includes a 410 after which another request succeeded', async () => {
    const replies = { ord_1: Promise.withResolvers<Reply>(), ord_2: Promise.withResolvers<Reply>() }
    const { stores, receiver, time } = dispatching
    receiver.reply = ({ body }) => replies[body.order_id as keyof typeof replies].promise
    const isSuccessRecorded = Promise.withResolvers<void>()
    const { id } = await dispatching.subscribe()
    dispatching.start({
      stores: withDeliveries(stores, {
        async save(deliveries) {
          if (deliveries.some(({ state }) => state === 'failed')) await isSuccessRecorded.promise
          return stores.deliveries.save(deliveries)
        },
      }),
    })
    await dispatching.announce('ord_1', 'ord_2')
    await eventually(() => expect(receiver.received).toHaveLength(2))
    replies.ord_1.resolve({ status: 410 })
    await attempted(1)
    time.advance(1_000)
    replies.ord_2.resolve({ status: 200 })
    await attempted(2)
    isSuccessRecorded.resolve()
    await eventually(() => expect(dispatching.notices).toHaveLength(1))
    const sinceMs = (await stores.endpoints.byId(id))?.failingSince ?? 0
    const replay = { endpointId: id, sinceMs, failedOnly: true, nowMs: time.clock() }
    expect(await stores.deliveries.replay(replay)).toBe(1)
  })

  describe('a 410 of an endpoint whose URL was changed meanwhile', () => {
    let id: string
    let gone: PromiseWithResolvers<Reply>
    const move = (changes = {}) =>
      dispatching.change(id, { url: dispatching.receiver.url('/new'), ...changes })
    const received = () =>
      dispatching.receiver.received.map(({ path, body }) => `${path} ${body.order_id}`)

    /** With a request to the old URL in flight. */
    async function start(settings: Partial<DispatcherSettings> = {}, stores = dispatching.stores) {
      id = (await dispatching.subscribe()).id
      gone = Promise.withResolvers()
      dispatching.receiver.reply = ({ path }) =>
        path === '/hooks' ? gone.promise : { status: 200 }
      const running = dispatching.start({ settings, stores })
      await dispatching.announce('ord_1')
      await eventually(() => expect(received()).toEqual(['/hooks ord_1']))
      return running
    }

    it('does not disable it, and the delivery is sent to the new URL', async () => {
      await start()
      await move()
      await dispatching.changesApplied()
      await dispatching.announce('ord_1')
      gone.resolve({ status: 410 })
      const [first] = await dispatching.delivers(id, 2)
      expect(first).toMatchObject({
        event: { sequence: 1 },
        attempts: [{ status: 410 }, { status: 200 }],
      })
      expect(received().slice(1)).toEqual(['/new ord_1', '/new ord_1'])
      expect(dispatching.receivedOrders().slice(1)).toEqual(['ord_1 1', 'ord_1 2'])
      expect(await dispatching.stores.endpoints.byId(id)).toMatchObject({ disabledReason: null })
    })

    it('sends nothing more to the old URL before the dispatcher reads the change', async () => {
      const { usage } = await start({ refreshMs: 24 * HOUR })
      await move()
      gone.resolve({ status: 410 })
      await eventually(async () =>
        expect(await only(id)).toMatchObject({ state: 'pending', attempts: [{ status: 410 }] }),
      )
      // As long as an idle lane is kept: another one must not send either.
      await eventually(() => {
        dispatching.time.advance(MINUTE)
        expect(usage()?.lanes).toBe(0)
      })
      await dispatching.announce('ord_1', 'ord_2')
      await quietPeriod()
      expect(received()).toEqual(['/hooks ord_1'])
      dispatching.time.advance(24 * HOUR)
      await dispatching.delivers(id, 3)
      expect(received().slice(1).toSorted()).toEqual(['/new ord_1', '/new ord_1', '/new ord_2'])
      const ofFirst = dispatching.receivedOrders().filter((name) => name.startsWith('ord_1'))
      expect(ofFirst).toEqual(['ord_1 1', 'ord_1 1', 'ord_1 2'])
    })

    it('sends no later event of its order first, though another 410 starts the endpoint', async () => {
      const { stores } = dispatching
      const isSecondSaved = Promise.withResolvers<void>()
      let resent = 0
      await start(
        {},
        withDeliveries(stores, {
          async save(rows) {
            const isResend = rows.some(
              ({ state, attempts }) => state === 'pending' && attempts.at(-1)?.status === 410,
            )
            if (isResend && ++resent === 2) await isSecondSaved.promise
            return stores.deliveries.save(rows)
          },
        }),
      )
      await dispatching.announce('ord_2', 'ord_1', 'ord_2')
      await eventually(() => expect(received()).toHaveLength(2))
      await move()
      await dispatching.changesApplied()
      gone.resolve({ status: 410 })
      await eventually(() => expect(resent).toBe(2))
      await quietPeriod()
      isSecondSaved.resolve()
      await dispatching.delivers(id, 4)
      for (const order of ['ord_1', 'ord_2']) {
        const ofOrder = dispatching.receivedOrders().filter((name) => name.startsWith(order))
        expect(ofOrder).toEqual([`${order} 1`, `${order} 1`, `${order} 2`])
      }
    })

    it('holds the delivery for the new URL when it was disabled too', async () => {
      await start({ refreshMs: MINUTE })
      await move({ disabledReason: 'manual' })
      gone.resolve({ status: 410 })
      await eventually(async () =>
        expect(await only(id)).toMatchObject({ state: 'held', attempts: [{ status: 410 }] }),
      )
      await dispatching.change(id, { disabledReason: null })
      dispatching.time.advance(MINUTE)
      await dispatching.delivers(id, 1)
      expect(received()).toEqual(['/hooks ord_1', '/new ord_1'])
    })
  })

  it('notices are sent once after an hour and once after a day of failing', async () => {
    const { id, accountId } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1')
    await attempted(1)
    dispatching.time.advance(HOUR - MINUTE)
    await quietPeriod()
    expect(dispatching.notices).toEqual([])
    dispatching.time.advance(MINUTE)
    await eventually(() =>
      expect(dispatching.notices).toMatchObject([
        { kind: 'failing_1h', endpointId: id, accountId },
      ]),
    )
    dispatching.time.advance(23 * HOUR)
    await eventually(() => expect(dispatching.notices).toHaveLength(2))
    expect(dispatching.notices[1]).toMatchObject({ kind: 'failing_24h' })
    await eventually(async () =>
      expect(await dispatching.stores.endpoints.byId(id)).toMatchObject({ noticesSent: 2 }),
    )
    await quietPeriod()
    expect(dispatching.notices).toHaveLength(2)
  })

  it('a success ends the failing of an endpoint', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1')
    await eventually(async () =>
      expect((await dispatching.stores.endpoints.byId(id))?.failingSince).not.toBeNull(),
    )
    reply = { status: 200 }
    await dispatching.advanceToRetry(id, 'ord_1 1', 1)
    await eventually(async () =>
      expect(await dispatching.stores.endpoints.byId(id)).toMatchObject({
        failingSince: null,
        noticesSent: 0,
      }),
    )
  })
})
