import { beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import type { EventPage, WebhookStores } from '../../../../src/webhooks/webhook-stores.ts'
import {
  type Dispatching,
  eventually,
  openDispatching,
} from '../../../support/webhooks/dispatching.ts'
import { withDeliveries } from '../../../support/webhooks/stores/stubbed-stores.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

describe.each(useWebhookStores())('the fan-out of the dispatcher on %s', (_name, open) => {
  let dispatching: Dispatching
  beforeEach(async () => {
    dispatching = await openDispatching(open)
  })

  const received = (...expected: string[]) =>
    eventually(() => expect(dispatching.receivedOrders()).toEqual(expected))

  /** Stores whose first fan-out does something else. */
  function withFirstFanOut(
    fanOut: (
      deliveries: Parameters<EventPage['fanOut']>[0],
      page: EventPage,
    ) => ReturnType<EventPage['fanOut']>,
  ): WebhookStores {
    const { stores } = dispatching
    let isFirst = true
    return {
      ...stores,
      events: {
        ...stores.events,
        async next(limit) {
          const page = await stores.events.next(limit)
          if (page === null || !isFirst) return page
          isFirst = false
          return { ...page, fanOut: (deliveries) => fanOut(deliveries, page) }
        },
      },
    }
  }

  it('after a crash between the deliveries of an order, the earlier one is sent first', async () => {
    await dispatching.subscribe()
    const stores = withFirstFanOut(async (deliveries, page) => {
      await dispatching.stores.deliveries.create(deliveries.slice(0, 1)) // By the one that crashed.
      return page.fanOut(deliveries)
    })
    await dispatching.announce('ord_1', 'ord_1')
    // The lane must not depend on the next tick.
    dispatching.start({ stores, settings: { tickMs: 500 } })
    await received('ord_1 1', 'ord_1 2')
  })

  it('what was stored without a response is sent, and in the order of its events', async () => {
    await dispatching.subscribe()
    const stores = withFirstFanOut(async (deliveries, page) => {
      await page.fanOut(deliveries)
      throw new Unavailable('no response')
    })
    await dispatching.announce('ord_1')
    dispatching.start({ stores })
    await eventually(() => expect(dispatching.log).toContain('recovered'))
    await dispatching.announce('ord_1')
    await received('ord_1 1', 'ord_1 2')
  })

  it('the removed orders of a page are forgotten together', async () => {
    const { id } = await dispatching.subscribe()
    const removed: string[][] = []
    const stores = withDeliveries(dispatching.stores, {
      forgetOrders(removals) {
        removed.push(removals.map(({ orderId }) => orderId))
        return dispatching.stores.deliveries.forgetOrders(removals)
      },
    })
    await dispatching.announce(
      'ord_1',
      ['ord_1', 'order.removed'],
      ['ord_2', 'order.removed'],
      'ord_3',
    )
    // Otherwise the first page may have a part of the records only.
    await dispatching.stores.refresh()
    dispatching.start({ stores })
    await eventually(() => expect(dispatching.receivedOrders()).toHaveLength(3))
    expect(removed).toEqual([['ord_1', 'ord_2']])
    const [first] = await dispatching.deliveries(id)
    expect(first).toMatchObject({ state: 'canceled', event: { change: {} } })
  })
})
