import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../../../src/lib/durations.ts'
import type { UnreadView } from '../../../../src/orders/order-store.ts'
import { createDeliveryOperations } from '../../../../src/webhooks/management/delivery-operations.ts'
import {
  type Dispatching,
  eventually,
  openDispatching,
  quietPeriod,
} from '../../../support/webhooks/dispatching.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

const FIRST_PROBE_MS = 10_000

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

    it.each<[string, UnreadView]>([
      ['canceled', 'missing'],
      ['pending', 'unreadable'],
    ])('events are %s after five minutes in which their order is %s', async (state, view) => {
      dispatching.views.set('ord_1', view)
      const { id } = await dispatching.subscribe({ payload: 'thin' })
      dispatching.start()
      await dispatching.announce('ord_1')
      await storedAttempts(id, 1)
      dispatching.time.advance(5 * MINUTE_MS)
      await storedAttempts(id, 2)
      expect(await dispatching.deliveries(id)).toMatchObject([{ state }])
      expect(dispatching.receivedOrders()).toEqual([])
    })

    it('a resend reads a missing one for five minutes again', async () => {
      dispatching.views.set('ord_1', 'missing')
      const { id } = await dispatching.subscribe()
      dispatching.start()
      await dispatching.announce('ord_1')
      await storedAttempts(id, 1)
      dispatching.time.advance(5 * MINUTE_MS)
      const [canceled] = await storedAttempts(id, 2)
      const operations = createDeliveryOperations({
        ...dispatching.stores,
        orders: { get: async () => Buffer.from('{}') },
        retentionMs: HOUR_MS,
        clock: dispatching.time.clock,
      })
      await operations.resend({ id: canceled?.id ?? '', accountId: 'acc_1' })
      expect(await storedAttempts(id, 3)).toMatchObject([{ state: 'pending' }])
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
