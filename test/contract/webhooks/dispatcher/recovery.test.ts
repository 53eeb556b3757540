import { once } from 'node:events'
import { beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import type { Notice } from '../../../../src/webhooks/dispatcher/dispatcher-events.ts'
import type { DispatcherLease, EventPage } from '../../../../src/webhooks/webhook-stores.ts'
import {
  type Dispatching,
  eventually,
  openDispatching,
  quietPeriod,
} from '../../../support/webhooks/dispatching.ts'
import {
  failTimes,
  withDeliveries,
  withEndpoints,
} from '../../../support/webhooks/stores/stubbed-stores.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

describe.each(useWebhookStores())('the recovery of the dispatcher on %s', (_name, open) => {
  let dispatching: Dispatching
  beforeEach(async () => {
    dispatching = await openDispatching(open)
  })

  const receivedIds = () => dispatching.receiver.received.map(({ body }) => body.id)

  it('after a crash between the 2xx and its storage, the same webhook-id is sent again', async () => {
    const { id } = await dispatching.subscribe()
    const crashing = withDeliveries(dispatching.stores, {
      save: () => Promise.reject(new Unavailable('the process ends')),
    })
    const first = dispatching.start({ stores: crashing })
    await dispatching.announce('ord_1', 'ord_1')
    await eventually(() => expect(dispatching.attempts).toHaveLength(1))
    await first.stop()
    dispatching.start()
    await dispatching.delivers(id, 2)
    expect(dispatching.receivedOrders()).toEqual(['ord_1 1', 'ord_1 1', 'ord_1 2'])
    const [before, after] = receivedIds()
    expect(after).toBe(before)
  })

  it('after a stored 2xx, no other dispatcher sends it again', async () => {
    const { id } = await dispatching.subscribe()
    const first = dispatching.start()
    await dispatching.announce('ord_1')
    await dispatching.delivers(id, 1)
    await first.stop()
    dispatching.start()
    await dispatching.announce('ord_2')
    await dispatching.delivers(id, 2)
    expect(dispatching.receivedOrders()).toEqual(['ord_1 1', 'ord_2 1'])
  })

  it('a crash in the fan-out neither loses nor repeats a delivery', async () => {
    const { id } = await dispatching.subscribe()
    const { stores } = dispatching
    const failThrice = failTimes(3, 'no response')
    async function next(limit: number): Promise<EventPage | null> {
      const page = await stores.events.next(limit)
      if (page === null) return null
      const fanOut: EventPage['fanOut'] = async (deliveries) => {
        failThrice()
        return page.fanOut(deliveries)
      }
      return { ...page, fanOut }
    }
    dispatching.start({ stores: { ...stores, events: { ...stores.events, next } } })
    await dispatching.announce('ord_1', 'ord_2')
    await dispatching.delivers(id, 2)
    await quietPeriod()
    expect(dispatching.receiver.received).toHaveLength(2)
    expect(dispatching.log.filter((line) => line.startsWith('outage'))).toEqual([
      'outage: no response',
    ])
    expect(dispatching.log).toContain('recovered')
  })

  it('results wait while the store is unavailable, and are then stored once', async () => {
    const { id } = await dispatching.subscribe()
    const { stores } = dispatching
    let { save } = stores.deliveries
    dispatching.start({ stores: withDeliveries(stores, { save: (rows) => save(rows) }) })
    save = () => Promise.reject(new Unavailable('no response'))
    await dispatching.announce('ord_1', 'ord_1')
    await eventually(() => expect(dispatching.log).toContain('outage: no response'))
    await quietPeriod()
    expect(dispatching.receivedOrders()).toEqual(['ord_1 1'])
    save = stores.deliveries.save
    await dispatching.delivers(id, 2)
    expect(dispatching.receivedOrders()).toEqual(['ord_1 1', 'ord_1 2'])
  })

  it('orders that cannot be read delay deliveries, and use no attempt', async () => {
    const { id } = await dispatching.subscribe()
    const failThrice = failTimes(3, 'no response')
    dispatching.start({
      orders: {
        async getMany(keys) {
          failThrice()
          return keys.map(() => Buffer.from('{}'))
        },
      },
    })
    await dispatching.announce('ord_1', 'ord_1')
    await dispatching.delivers(id, 2)
    expect(dispatching.receivedOrders()).toEqual(['ord_1 1', 'ord_1 2'])
    expect((await dispatching.deliveries(id)).map(({ attempts }) => attempts.length)).toEqual([
      1, 1,
    ])
  })

  it('a stop waits for the requests in flight, stores their results and releases the lease', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.receiver.reply = () => ({ status: 200, delayMs: 200 })
    const first = dispatching.start()
    await dispatching.announce('ord_1', 'ord_1')
    await eventually(() => expect(dispatching.receiver.received).toHaveLength(1))
    await first.stop()
    expect(dispatching.log).toContain('ended')
    await dispatching.delivers(id, 1)
    dispatching.start()
    await dispatching.delivers(id, 2)
    expect(dispatching.receivedOrders()).toEqual(['ord_1 1', 'ord_1 2'])
  })

  it('a stop does not wait for a receiver that never responds', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.receiver.reply = ({ body }) => (body.order_id === 'ord_1' ? null : { status: 200 })
    const first = dispatching.start({ settings: { stopMs: 50 } })
    await dispatching.announce('ord_1', 'ord_2')
    await eventually(() => expect(dispatching.receiver.received).toHaveLength(2))
    await dispatching.delivers(id, 1)
    await first.stop()
    dispatching.receiver.reply = () => ({ status: 200 })
    dispatching.start()
    await dispatching.delivers(id, 2)
    expect(dispatching.receivedOrders().slice(2)).toEqual(['ord_1 1'])
  })

  it('a dispatcher without its lease sends nothing, and waits for it again', async () => {
    const { id } = await dispatching.subscribe()
    const { stores } = dispatching
    const term: { isHeld: boolean; count: number } = { isHeld: true, count: 0 }
    dispatching.start({
      stores: {
        ...stores,
        async acquireLease(options) {
          if (term.count > 0) await eventually(() => expect(term.isHeld).toBe(true))
          term.count += 1
          const lease: DispatcherLease = await stores.acquireLease(options)
          return { isHeld: () => term.isHeld && lease.isHeld(), release: lease.release }
        },
      },
    })
    await dispatching.announce('ord_1')
    await dispatching.delivers(id, 1)
    term.isHeld = false
    await eventually(() => expect(dispatching.log).toContain('lease lost'))
    await dispatching.announce('ord_2')
    await quietPeriod()
    expect(dispatching.receivedOrders()).toEqual(['ord_1 1'])
    term.isHeld = true
    await dispatching.delivers(id, 2)
    expect(dispatching.receivedOrders()).toEqual(['ord_1 1', 'ord_2 1'])
  })

  it('a second dispatcher waits until the first one ends', async () => {
    const { id } = await dispatching.subscribe()
    const first = dispatching.start()
    await eventually(() => expect(dispatching.log).toContain('delivers'))
    const other = await dispatching.stores.openAgain()
    const second = dispatching.start({ stores: other })
    await eventually(() => expect(dispatching.log).toContain('standby'))
    expect(second.usage()).toBeNull()
    await first.stop()
    await dispatching.announce('ord_1')
    await dispatching.delivers(id, 1)
    expect(dispatching.receiver.received).toHaveLength(1)
    expect(second.usage()).toMatchObject({ inFlight: 0 })
    await second.stop()
  })

  describe('an endpoint that responds 410 while the store fails', () => {
    let id: string
    beforeEach(async () => {
      id = (await dispatching.subscribe()).id
      dispatching.receiver.reply = () => ({ status: 410 })
    })

    /** Fails before it stores that the notice was sent, this many times. */
    function failingNotices(times: number) {
      const { stores } = dispatching
      const fail = failTimes(times, 'no response')
      return withEndpoints(stores, {
        update: (id, change) =>
          stores.endpoints.update(id, (current) => {
            const changed = change(current)
            if (changed?.noticesSent === 3) fail()
            return changed
          }),
      })
    }

    /** Fails after it stored that an endpoint is disabled, this many times. */
    function failingUpdates(times: number) {
      const { stores } = dispatching
      const fail = failTimes(times, 'no response')
      return withEndpoints(stores, {
        async update(id, change) {
          const changed = await stores.endpoints.update(id, change)
          if ((await stores.endpoints.byId(id))?.disabledReason === 'gone') fail()
          return changed
        },
      })
    }

    async function expectOneNotice() {
      await dispatching.announce('ord_2')
      await eventually(async () =>
        expect((await dispatching.deliveries(id)).map(({ state }) => state)).toEqual([
          'failed',
          'held',
        ]),
      )
      await eventually(() => expect(dispatching.notices).toHaveLength(1))
      expect(dispatching.notices).toMatchObject([{ kind: 'disabled', disabledReason: 'gone' }])
      await eventually(async () =>
        expect((await dispatching.stores.endpoints.byId(id))?.noticesSent).toBe(3),
      )
      await quietPeriod()
      expect(dispatching.receivedOrders()).toEqual(['ord_1 1'])
      expect(dispatching.notices).toHaveLength(1)
    }

    it('is disabled with one notice when its deliveries cannot be held at first', async () => {
      const { stores } = dispatching
      const failOnce = failTimes(1, 'no response')
      const failing = withDeliveries(stores, {
        async hold(...call) {
          failOnce()
          return stores.deliveries.hold(...call)
        },
      })
      dispatching.start({ stores: failing })
      await dispatching.announce('ord_1')
      await eventually(() => expect(dispatching.log).toContain('recovered'))
      await expectOneNotice()
    })

    it('is disabled with one notice when the store reports no success of it', async () => {
      dispatching.start({ stores: failingUpdates(2) })
      await dispatching.announce('ord_1')
      await eventually(() => expect(dispatching.log).toContain('recovered'))
      await expectOneNotice()
    })

    it('is disabled with one notice when it is not stored at first that it was sent', async () => {
      dispatching.start({ stores: failingNotices(2) })
      await dispatching.announce('ord_1')
      await eventually(() => expect(dispatching.log).toContain('recovered'))
      await expectOneNotice()
    })

    it('is reported by the next dispatcher when the one that disabled it ended', async () => {
      const first = dispatching.start({ stores: failingUpdates(1_000) })
      await dispatching.announce('ord_1')
      await eventually(async () =>
        expect((await dispatching.stores.endpoints.byId(id))?.disabledReason).toBe('gone'),
      )
      await first.stop()
      dispatching.notices.length = 0
      dispatching.start()
      await expectOneNotice()
    })
  })

  it('a notice that was not accepted before a stop is sent again by the next dispatcher', async () => {
    dispatching.receiver.reply = () => ({ status: 410 })
    const { id } = await dispatching.subscribe()
    const sent: Notice[] = []
    const first = dispatching.start({
      async sendNotice(notice, signal) {
        sent.push(notice)
        await once(signal, 'abort')
        return 'the dispatcher stopped'
      },
    })
    await dispatching.announce('ord_1')
    await eventually(() => expect(sent).toHaveLength(1))
    await quietPeriod()
    await first.stop()
    dispatching.start({
      async sendNotice(notice) {
        sent.push(notice)
        return null
      },
    })
    await eventually(() => expect(sent).toHaveLength(2))
    expect(sent[1]).toEqual(sent[0])
    await eventually(async () =>
      expect((await dispatching.stores.endpoints.byId(id))?.noticesSent).toBe(3),
    )
  })

  it.each([{ failingSince: null }, { failingSince: 1, noticesSent: 3 }])(
    'an endpoint that was disabled long ago is not reported again (%o)',
    async (health) => {
      await dispatching.subscribe({ disabledReason: 'failing', ...health })
      dispatching.start()
      await dispatching.changesApplied()
      await quietPeriod()
      expect(dispatching.notices).toEqual([])
    },
  )

  it('an error that a retry cannot correct ends a dispatcher without a lease', async () => {
    const acquireLease = () => Promise.reject(new TypeError('a bug'))
    const broken = dispatching.start({ stores: { ...dispatching.stores, acquireLease } })
    await expect(broken.ended).rejects.toThrow('a bug')
  })

  it('an error that a retry cannot correct ends the dispatcher', async () => {
    await dispatching.subscribe()
    const broken = dispatching.start({
      orders: { getMany: () => Promise.reject(new TypeError('a bug')) },
    })
    await dispatching.announce('ord_1')
    await expect(broken.ended).rejects.toThrow('a bug')
    expect(dispatching.log).toContain('ended')
  })
})
