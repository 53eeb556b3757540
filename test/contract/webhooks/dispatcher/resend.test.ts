import { describe, expect, it } from 'vitest'
import { delivery } from '../../../support/webhooks/delivery.ts'
import { eventually, openDispatching, quietPeriod } from '../../../support/webhooks/dispatching.ts'
import { managementOf } from '../../../support/webhooks/management-of.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

/** Of each kind: more than SQLite changes in one transaction. */
const MANY = 1_000

describe.each(useWebhookStores())('while the circuit breaker is open on %s', (_name, open) => {
  it('a resend and a test wait for the probes, until the endpoint is enabled again', async () => {
    const dispatching = await openDispatching(open)
    const { clock } = dispatching.time
    const { receiver } = dispatching
    const management = managementOf(dispatching)
    // The next probe is an hour later.
    receiver.reply = () => ({ status: 503, headers: { 'retry-after': '3600' } })
    const { id } = await dispatching.subscribe({ isBreakerOpen: true, failingSince: clock() })
    dispatching.start()
    await dispatching.announce('ord_1')
    await eventually(async () => {
      const [first] = await dispatching.deliveries(id)
      expect(first?.attempts).toHaveLength(1)
    })
    receiver.reply = () => ({ status: 200 })
    const [failed] = await dispatching.deliveries(id)
    await management.resend({ id: failed?.id ?? '' })
    await management.sendTest({ id })
    await dispatching.changesApplied()
    await quietPeriod()
    expect(receiver.received).toHaveLength(1)
    await management.enableEndpoint({ id })
    await eventually(async () => {
      const states = (await dispatching.deliveries(id)).map(({ state }) => state)
      expect(states).toEqual(['delivered', 'delivered'])
    })
  })
})

describe.each(useWebhookStores())(
  'a replay of what was sent and what failed on %s',
  (_name, open) => {
    it('sends each event once, and those of an order in turn, while others are sent', async () => {
      const dispatching = await openDispatching(open)
      const { stores, time } = dispatching
      const management = managementOf(dispatching)
      const { id } = await dispatching.subscribe()
      const sinceMs = time.clock() - 10_000
      const ended = { endpointId: id, nextAt: null }
      const orders = Array.from({ length: MANY }, (_, n) => ({
        orderId: `ord_${n}`,
        at: sinceMs + n,
      }))
      await stores.deliveries.create(
        orders.flatMap(({ orderId, at }) => [
          delivery({ ...ended, state: 'delivered', event: { orderId, recordedAt: at } }),
          delivery({
            ...{ ...ended, state: 'expired', firstFailedAt: at },
            event: { orderId, sequence: 2, recordedAt: at + MANY },
          }),
        ]),
      )
      dispatching.start()
      const replayed = management.replay({ id }, { sinceMs })
      await management.sendTest({ id })
      await replayed
      await eventually(async () => {
        const open = (await dispatching.deliveries(id)).filter(({ state }) => state !== 'delivered')
        expect(open).toEqual([])
      })
      const received = dispatching.receivedOrders().filter((name) => name.startsWith('ord_'))
      const positions = new Map(received.map((name, at) => [name, at]))
      const positionOf = (name: string) => positions.get(name) ?? Number.NaN
      const inTurn = orders.filter(
        ({ orderId }) => positionOf(`${orderId} 1`) < positionOf(`${orderId} 2`),
      )
      expect(received).toHaveLength(2 * MANY)
      expect(inTurn).toHaveLength(MANY)
    })
  },
)
