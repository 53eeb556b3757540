import { beforeEach, describe, expect, it } from 'vitest'
import {
  type Dispatching,
  eventually,
  openDispatching,
  quietPeriod,
} from '../../../support/webhooks/dispatching.ts'
import { managementOf } from '../../../support/webhooks/management-of.ts'
import type { Reply } from '../../../support/webhooks/sending/recording-receiver.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

const MINUTE = 60_000

describe.each(useWebhookStores())('the order of webhooks on %s', (_name, open) => {
  let dispatching: Dispatching
  let failingOrders: Set<string>
  beforeEach(async () => {
    dispatching = await openDispatching(open)
    failingOrders = new Set(['ord_1'])
    dispatching.receiver.reply = ({ body }) => ({
      status: failingOrders.has(`${body.order_id}`) ? 500 : 200,
    })
  })

  const received = (...expected: string[]) =>
    eventually(() => expect(dispatching.receivedOrders()).toEqual(expected))

  it('a later event of an order waits for the 2xx of the earlier one', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1', 'ord_1')
    await received('ord_1 1')
    await quietPeriod()
    await received('ord_1 1')
    failingOrders.clear()
    await dispatching.advanceToRetry(id, 'ord_1 1', 1)
    await received('ord_1 1', 'ord_1 1', 'ord_1 2')
  })

  it('a later event waits for an earlier one that a command sends again', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1')
    await eventually(async () => {
      const [first] = await dispatching.deliveries(id)
      expect(first?.attempts).toHaveLength(1)
    })
    dispatching.time.advance(1_000)
    await dispatching.announce('ord_1')
    await eventually(async () => expect(await dispatching.deliveries(id)).toHaveLength(2))
    dispatching.time.advance(1_000)
    failingOrders.clear()
    const [first] = await dispatching.deliveries(id)
    await managementOf(dispatching).resend({ id: first?.id ?? '' })
    await received('ord_1 1', 'ord_1 1', 'ord_1 2')
  })

  it('other orders do not wait for a failing one', async () => {
    await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1', 'ord_1', 'ord_2', 'ord_2', 'ord_3')
    await eventually(() => expect(dispatching.receivedOrders()).toHaveLength(4))
    expect(new Set(dispatching.receivedOrders())).toEqual(
      new Set(['ord_1 1', 'ord_2 1', 'ord_2 2', 'ord_3 1']),
    )
  })

  it('an order waits for at most five minutes of failing', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.start()
    const startedAt = dispatching.time.clock()
    await dispatching.announce('ord_1', 'ord_1')
    // Retries after 20 s, 30 s and 2 minutes; the next one is due after ten minutes more.
    for (const attempts of [1, 2, 3]) {
      await dispatching.advanceToRetry(id, 'ord_1 1', attempts)
      await eventually(() => expect(dispatching.receivedOrders()).toHaveLength(attempts + 1))
    }
    dispatching.time.advance(startedAt + 4.5 * MINUTE - dispatching.time.clock())
    await quietPeriod()
    expect(dispatching.receivedOrders()).not.toContain('ord_1 2')
    dispatching.time.advance(MINUTE)
    await eventually(() => expect(dispatching.receivedOrders()).toContain('ord_1 2'))
  })

  it('an order waits as long after the clock was set back', async () => {
    const { id } = await dispatching.subscribe({ createdAt: 0 })
    dispatching.start()
    await dispatching.announce('ord_2')
    await received('ord_2 1')
    dispatching.time.setBack(60 * MINUTE)
    await dispatching.announce('ord_1', 'ord_1')
    await received('ord_2 1', 'ord_1 1')
    await eventually(async () =>
      expect((await dispatching.deliveries(id)).some(({ step }) => step === 1)).toBe(true),
    )
    await quietPeriod()
    await received('ord_2 1', 'ord_1 1')
    dispatching.time.advance(6 * MINUTE)
    await eventually(() => expect(dispatching.receivedOrders()).toContain('ord_1 2'))
  })

  it('an order still waits after a restart of the dispatcher', async () => {
    const { id } = await dispatching.subscribe()
    const first = dispatching.start()
    await dispatching.announce('ord_1', 'ord_1', 'ord_2')
    await eventually(() => expect(dispatching.receivedOrders()).toHaveLength(2))
    await first.stop()
    dispatching.start()
    await dispatching.announce('ord_3')
    await eventually(() => expect(dispatching.receivedOrders()).toHaveLength(3))
    await quietPeriod()
    expect(dispatching.receivedOrders()).not.toContain('ord_1 2')
    failingOrders.clear()
    await dispatching.advanceToRetry(id, 'ord_1 1', 1)
    await eventually(() =>
      expect(dispatching.receivedOrders().slice(3)).toEqual(['ord_1 1', 'ord_1 2']),
    )
  })

  it('only one event of an order is in flight', async () => {
    await dispatching.subscribe()
    dispatching.receiver.reply = () => ({ status: 200, delayMs: 20 })
    dispatching.start()
    await dispatching.announce(...Array.from({ length: 10 }, () => 'ord_2'))
    await eventually(() => expect(dispatching.receivedOrders()).toHaveLength(10))
    expect(dispatching.receiver.open.most).toBe(1)
    expect(dispatching.receivedOrders()).toEqual(
      Array.from({ length: 10 }, (_, index) => `ord_2 ${index + 1}`),
    )
  })

  describe('an endpoint that is disabled while an event is in flight', () => {
    let id: string
    let response: PromiseWithResolvers<Reply>
    beforeEach(async () => {
      id = (await dispatching.subscribe()).id
      response = Promise.withResolvers<Reply>()
      dispatching.receiver.reply = () => response.promise
      // The dispatcher reads that the endpoint is disabled after the response.
      dispatching.start({ settings: { refreshMs: 60_000 } })
      await dispatching.announce('ord_1')
      await received('ord_1 1')
      await dispatching.change(id, { disabledReason: 'manual' })
      expect(await dispatching.stores.deliveries.hold(id, dispatching.time.clock())).toBe(1)
      await dispatching.announce('ord_1')
      await eventually(async () => expect(await dispatching.deliveries(id)).toHaveLength(2))
    })

    const states = (...expected: string[]) =>
      eventually(async () =>
        expect((await dispatching.deliveries(id)).map(({ state }) => state)).toEqual(expected),
      )

    async function enable() {
      dispatching.receiver.reply = () => ({ status: 200 })
      await dispatching.change(id, { disabledReason: null })
      await dispatching.stores.deliveries.releaseHeld(id, dispatching.time.clock())
      await dispatching.change(id, {})
      dispatching.time.advance(MINUTE)
    }

    it('sends the later events of the order after that one', async () => {
      response.resolve({ status: 500 })
      await states('held', 'held')
      await quietPeriod()
      await received('ord_1 1')
      await enable()
      await received('ord_1 1', 'ord_1 1', 'ord_1 2')
      await states('delivered', 'delivered')
    })

    it('does not send an event again that it accepted', async () => {
      response.resolve({ status: 200 })
      await states('delivered', 'held')
      expect((await dispatching.deliveries(id))[0]?.attempts).toMatchObject([{ status: 200 }])
      await enable()
      await states('delivered', 'delivered')
      await received('ord_1 1', 'ord_1 2')
    })

    it('receives both in order after an enabling that released nothing', async () => {
      await dispatching.change(id, { disabledReason: null })
      dispatching.receiver.reply = () => ({ status: 200 })
      response.resolve({ status: 500 })
      await received('ord_1 1', 'ord_1 1', 'ord_1 2')
      await states('delivered', 'delivered')
    })
  })
})
