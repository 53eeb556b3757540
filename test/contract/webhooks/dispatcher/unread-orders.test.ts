import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../../../src/lib/durations.ts'
import type { UnreadView } from '../../../../src/orders/order-store.ts'
import type { DeliveryState } from '../../../../src/webhooks/deliveries/delivery.ts'
import type { AttemptOutcome } from '../../../../src/webhooks/dispatcher/dispatcher-events.ts'
import { createDeliveryOperations } from '../../../../src/webhooks/management/delivery-operations.ts'
import {
  type Dispatching,
  eventually,
  openDispatching,
  quietPeriod,
} from '../../../support/webhooks/dispatching.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

const FIRST_PROBE_MS = 10_000
/** So many reads cancel an event whose order is missing. */
const READS = 6

describe.each(useWebhookStores())(
  'the dispatcher on %s, while the store has no answer about an order',
  (_name, open) => {
    let dispatching: Dispatching
    beforeEach(async () => {
      dispatching = await openDispatching(open)
    })

    const storedAttempts = (endpointId: string, count: number) =>
      eventually(async () => {
        const found = await dispatching.deliveries(endpointId)
        expect(found.flatMap(({ attempts }) => attempts)).toHaveLength(count)
        return found
      })

    /** Reads the only order of an endpoint until a missing one cancels its event. */
    async function readFor5Minutes(endpointId: string) {
      for (let reads = 1; reads < READS; reads += 1) {
        await storedAttempts(endpointId, reads)
        dispatching.time.advance(5 * MINUTE_MS)
      }
      return await storedAttempts(endpointId, READS)
    }

    it.each<[UnreadView, string]>([
      ['missing', 'not sent: the stored order is missing'],
      ['unreadable', 'not sent: the stored order could not be read'],
    ])(
      'it delays the events of a %s one in their sequence, and no endpoint fails',
      async (view, error) => {
        const orders = ['ord_1', 'ord_2', 'ord_3', 'ord_4', 'ord_5', 'ord_6']
        for (const id of orders) dispatching.views.set(id, view)
        const { id } = await dispatching.subscribe()
        dispatching.start()
        await dispatching.announce(...orders, 'ord_1', 'ord_7')
        const [first] = await storedAttempts(id, orders.length + 1)
        expect(first).toMatchObject({
          state: 'pending',
          step: 0,
          attempts: [{ status: null, error }],
        })
        await quietPeriod()
        expect(dispatching.receivedOrders()).toEqual(['ord_7 1'])
        expect(dispatching.log).not.toContain('breaker open')
        expect(await dispatching.stores.endpoints.byId(id)).toMatchObject({ failingSince: null })
        dispatching.views.clear()
        await dispatching.advanceToRetry(id, 'ord_6 1', 1)
        await eventually(() => expect(dispatching.receivedOrders()).toHaveLength(orders.length + 2))
        const received = dispatching.receivedOrders()
        expect(received.filter((name) => name.startsWith('ord_1 '))).toEqual(['ord_1 1', 'ord_1 2'])
      },
    )

    it.each<[DeliveryState, UnreadView, AttemptOutcome]>([
      ['canceled', 'missing', 'canceled'],
      ['pending', 'unreadable', 'retrying'],
    ])(
      'events are %s after five minutes in which their order is %s',
      async (state, view, outcome) => {
        dispatching.views.set('ord_1', view)
        const { id } = await dispatching.subscribe({ payload: 'thin' })
        dispatching.start()
        await dispatching.announce('ord_1')
        await readFor5Minutes(id)
        expect(await dispatching.deliveries(id)).toMatchObject([{ state }])
        expect(dispatching.attempts.at(-1)).toMatchObject({ outcome })
        expect(dispatching.receivedOrders()).toEqual([])
      },
    )

    it('an event is not canceled because no dispatcher ran for five minutes', async () => {
      dispatching.views.set('ord_1', 'missing')
      const { id } = await dispatching.subscribe()
      const first = dispatching.start()
      await dispatching.announce('ord_1')
      await storedAttempts(id, 1)
      await first.stop()
      dispatching.time.advance(10 * MINUTE_MS)
      dispatching.start()
      await storedAttempts(id, 2)
      dispatching.views.clear()
      await dispatching.advanceToRetry(id, 'ord_1 1', 2)
      await dispatching.delivers(id, 1)
    })

    it('the requests that follow open the circuit breaker as first ones do', async () => {
      const orders = Array.from({ length: 8 }, (_, n) => `ord_${n}`)
      for (const orderId of orders) dispatching.views.set(orderId, 'unreadable')
      const { id } = await dispatching.subscribe()
      dispatching.start()
      await dispatching.announce(...orders)
      await storedAttempts(id, orders.length)
      dispatching.receiver.reply = () => ({ status: 500 })
      dispatching.views.clear()
      await dispatching.advanceToRetry(id, 'ord_7 1', 1)
      await eventually(() => expect(dispatching.log).toContain('breaker open'))
    })

    it('a resend reads a missing one for five minutes again', async () => {
      dispatching.views.set('ord_1', 'missing')
      const { id } = await dispatching.subscribe()
      dispatching.start()
      await dispatching.announce('ord_1')
      const [canceled] = await readFor5Minutes(id)
      const operations = createDeliveryOperations({
        ...dispatching.stores,
        orders: { get: async () => Buffer.from('{}') },
        retentionMs: HOUR_MS,
        clock: dispatching.time.clock,
      })
      await operations.resend({ id: canceled?.id ?? '', accountId: 'acc_1' })
      expect(await storedAttempts(id, READS + 1)).toMatchObject([{ state: 'pending' }])
    })

    it('a probe with a missing one delays the next probe as long as the first one', async () => {
      dispatching.views.set('ord_1', 'missing')
      const failingSince = dispatching.time.clock()
      const { id } = await dispatching.subscribe({ isBreakerOpen: true, failingSince })
      dispatching.start()
      await dispatching.announce('ord_1')
      await storedAttempts(id, 1)
      await quietPeriod()
      await storedAttempts(id, 1)
      dispatching.time.advance(FIRST_PROBE_MS)
      await storedAttempts(id, 2)
    })
  },
)
