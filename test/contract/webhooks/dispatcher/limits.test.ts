import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../../src/lib/durations.ts'
import {
  type Dispatching,
  eventually,
  openDispatching,
  quietPeriod,
} from '../../../support/webhooks/dispatching.ts'
import { managementOf } from '../../../support/webhooks/management-of.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

const orders = (count: number, prefix = 'ord') =>
  Array.from({ length: count }, (_, index) => `${prefix}_${index}`)

describe.each(useWebhookStores())('the limits of the dispatcher on %s', (_name, open) => {
  let dispatching: Dispatching
  beforeEach(async () => {
    dispatching = await openDispatching(open)
  })

  const receivedAt = (path: string) =>
    dispatching.receiver.received.filter((webhook) => webhook.path === path)

  it('a proven endpoint has at most 8 requests in flight', async () => {
    dispatching.receiver.reply = () => null
    await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce(...orders(50))
    await eventually(() => expect(dispatching.receiver.open.current).toBe(8))
    await quietPeriod()
    expect(dispatching.receiver.open.most).toBe(8)
  })

  it('an endpoint that never succeeded has one request in flight', async () => {
    dispatching.receiver.reply = () => null
    await dispatching.subscribe({ lastSuccessAt: null })
    dispatching.start()
    await dispatching.announce(...orders(10))
    await eventually(() => expect(dispatching.receiver.open.current).toBe(1))
    await quietPeriod()
    expect(dispatching.receiver.open.most).toBe(1)
  })

  it('an order with hundreds of waiting events delays no other order', async () => {
    dispatching.receiver.reply = ({ body }) => (body.order_id === 'busy' ? null : { status: 200 })
    const { id } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce(...Array<string>(200).fill('busy'))
    await eventually(() => expect(dispatching.receiver.open.current).toBe(1))
    await dispatching.announce(...orders(20))
    await eventually(async () => {
      const delivered = (await dispatching.deliveries(id)).filter(
        ({ state }) => state === 'delivered',
      )
      expect(delivered).toHaveLength(20)
    })
    const ofBusy = dispatching.receivedOrders().filter((name) => name.startsWith('busy'))
    expect(new Set(ofBusy)).toEqual(new Set(['busy 1']))
  })

  it('an endpoint with 1,000 waiting events never sees more than 32 requests at once', async () => {
    const { id } = await dispatching.subscribe({ lastSuccessAt: null })
    await dispatching.announce(...orders(1_000))
    dispatching.receiver.reply = () => ({ status: 200, delayMs: 5 })
    dispatching.start()
    await eventually(() => expect(dispatching.attempts).toHaveLength(1_000))
    expect(dispatching.receiver.open.most).toBeGreaterThan(8)
    expect(dispatching.receiver.open.most).toBeLessThanOrEqual(32)
    await eventually(async () =>
      expect((await dispatching.deliveries(id)).every(({ state }) => state === 'delivered')).toBe(
        true,
      ),
    )
  })

  it('endpoints that never respond share a part of the requests, and others are served', async () => {
    const { receiver } = dispatching
    receiver.reply = ({ path }) => (path === '/healthy' ? { status: 200 } : null)
    for (let index = 0; index < 10; index++)
      await dispatching.subscribe({ url: receiver.url('/dead'), lastSuccessAt: null })
    await dispatching.subscribe({ url: receiver.url('/healthy') })
    const dispatcher = dispatching.start({ settings: { limits: { total: 16, restricted: 4 } } })
    await dispatching.announce(...orders(50))
    await eventually(() => expect(receivedAt('/healthy')).toHaveLength(50))
    await eventually(() => expect(receivedAt('/dead')).toHaveLength(4))
    await quietPeriod()
    expect(receivedAt('/dead')).toHaveLength(4)
    await eventually(() =>
      expect(dispatcher.usage()).toMatchObject({ inFlight: 4, restrictedInFlight: 4 }),
    )
  })

  describe.each([
    ['before this dispatcher', 0],
    ['a moment ago', 1],
  ])('proven endpoints whose last success was %s', (_when, answered) => {
    it('leave room for others when they stop responding together', async () => {
      const { receiver } = dispatching
      const deadPaths = Array.from({ length: 10 }, (_, index) => `/dead_${index}`)
      receiver.reply = ({ path }) =>
        path === '/healthy' || receivedAt(path).length <= answered ? { status: 200 } : null
      for (const path of [...deadPaths, '/healthy'])
        await dispatching.subscribe({ url: receiver.url(path) })
      dispatching.start({ settings: { limits: { total: 16, restricted: 4 } } })
      await dispatching.announce(...orders(50))
      await eventually(() => expect(receivedAt('/healthy')).toHaveLength(50))
      for (const path of deadPaths) expect(receivedAt(path)).toHaveLength(answered + 1)
    })
  })

  it('a proven endpoint that stops responding counts as slow after a second', async () => {
    dispatching.receiver.reply = () => null
    await dispatching.subscribe()
    const dispatcher = dispatching.start()
    await dispatching.announce(...orders(50))
    await eventually(() => expect(dispatcher.usage()).toMatchObject({ inFlight: 8 }))
    dispatching.time.advance(1_001)
    await eventually(() =>
      expect(dispatcher.usage()).toMatchObject({ inFlight: 8, restrictedInFlight: 8 }),
    )
  })

  describe('the circuit breaker', () => {
    beforeEach(() => {
      dispatching.receiver.reply = () => ({ status: 500 })
    })

    const isOpen = () => eventually(() => expect(dispatching.log).toContain('breaker open'))

    it('it opens after failures of five orders, and probes with one request at a time', async () => {
      const { id } = await dispatching.subscribe()
      dispatching.start()
      await dispatching.announce(...orders(100))
      await isOpen()
      await eventually(() => expect(dispatching.receiver.open.current).toBe(0))
      await quietPeriod()
      const count = dispatching.attempts.length
      expect(count).toBeLessThan(20)
      dispatching.time.advance(10_000)
      await eventually(() => expect(dispatching.attempts).toHaveLength(count + 1))
      dispatching.time.advance(10_000)
      await quietPeriod()
      expect(dispatching.attempts).toHaveLength(count + 1)
      dispatching.time.advance(10_000)
      await eventually(() => expect(dispatching.attempts).toHaveLength(count + 2))
      expect(dispatching.attempts.slice(-2).map(({ isProbe }) => isProbe)).toEqual([true, true])
      await eventually(async () =>
        expect(await dispatching.stores.endpoints.byId(id)).toMatchObject({ isBreakerOpen: true }),
      )
    })

    it('a failed probe uses no step of the schedule', async () => {
      const { id } = await dispatching.subscribe()
      dispatching.start()
      await dispatching.announce(...orders(20))
      await isOpen()
      for (let probe = 1; probe <= 3; probe++) {
        dispatching.time.advance(80_000)
        await eventually(() =>
          expect(dispatching.attempts.filter(({ isProbe }) => isProbe)).toHaveLength(probe),
        )
      }
      await eventually(async () => {
        const found = await dispatching.deliveries(id)
        const attempts = found.reduce((sum, delivery) => sum + delivery.attempts.length, 0)
        const steps = found.reduce((sum, { step }) => sum + step, 0)
        expect(attempts - steps).toBe(3)
      })
    })

    it('after the first success everything is sent, beginning slowly', async () => {
      const { id } = await dispatching.subscribe()
      dispatching.start()
      await dispatching.announce(...orders(50), ...orders(50))
      await isOpen()
      await eventually(() => expect(dispatching.receiver.open.current).toBe(0))
      await quietPeriod()
      dispatching.receiver.open.most = 0
      const before = dispatching.receiver.received.length
      dispatching.receiver.reply = () => ({ status: 200, delayMs: 5 })
      dispatching.time.advance(10_000)
      await eventually(() => expect(dispatching.log).toContain('breaker closed'))
      await eventually(() =>
        expect(dispatching.receiver.received.length).toBeGreaterThan(before + 3),
      )
      expect(dispatching.receiver.open.most).toBeLessThan(8)
      await eventually(async () => {
        const found = await dispatching.deliveries(id)
        expect(found.every(({ state }) => state === 'delivered')).toBe(true)
      })
      const after = dispatching.receivedOrders().slice(before)
      for (const orderId of orders(50))
        expect(after.indexOf(`${orderId} 1`)).toBeLessThan(after.indexOf(`${orderId} 2`))
    })

    it('it stays open after a restart of the dispatcher', async () => {
      const { id } = await dispatching.subscribe()
      const first = dispatching.start()
      await dispatching.announce(...orders(20))
      await isOpen()
      await first.stop()
      expect(await dispatching.stores.endpoints.byId(id)).toMatchObject({ isBreakerOpen: true })
      const count = dispatching.receiver.received.length
      dispatching.start()
      await eventually(() => expect(dispatching.receiver.received).toHaveLength(count + 1))
      await quietPeriod()
      expect(dispatching.receiver.received).toHaveLength(count + 1)
      expect(dispatching.attempts.at(-1)).toMatchObject({ isProbe: true })
    })

    it('one failing order never opens it', async () => {
      await dispatching.subscribe()
      dispatching.start()
      await dispatching.announce('ord_0', 'ord_0')
      for (let count = 1; count < 8; count++) {
        await eventually(() => expect(dispatching.attempts.length).toBeGreaterThanOrEqual(count))
        await quietPeriod()
        dispatching.time.advance(600_000)
      }
      expect(dispatching.log).not.toContain('breaker open')
    })
  })

  describe('five orders that the receiver always rejects', () => {
    const rejected = orders(5, 'rejected')
    let endpointId: string
    beforeEach(async () => {
      dispatching.receiver.reply = ({ body }) => ({
        status: `${body.order_id}`.startsWith('rejected') ? 500 : 200,
      })
      endpointId = (await dispatching.subscribe()).id
      dispatching.start()
    })

    const pending = async () =>
      (await dispatching.deliveries(endpointId))
        .filter(({ state }) => state !== 'delivered')
        .map(({ event }) => event.orderId)
    const attempts = (count: number) =>
      eventually(async () => {
        const found = await dispatching.deliveries(endpointId)
        expect(found.reduce((sum, delivery) => sum + delivery.attempts.length, 0)).toBe(count)
      })
    const allOthersDelivered = () =>
      eventually(async () => expect(await pending()).toEqual(rejected))

    it('their retries in a quiet period stop no other order', async () => {
      for (const [index, orderId] of rejected.entries()) {
        await dispatching.announce(orderId)
        await attempts(2 * index + 1)
        await dispatching.announce(`before_${index}`)
        await attempts(2 * index + 2)
      }
      for (let retry = 1; retry <= 3; retry++) {
        dispatching.time.advance(HOUR_MS)
        await attempts(10 + 5 * retry)
      }
      await dispatching.announce(...orders(20))
      await attempts(45)
      await allOthersDelivered()
      expect(dispatching.log).not.toContain('breaker open')
    })

    it('a test event that it rejects too takes no probe of other orders', async () => {
      dispatching.receiver.reply = ({ body }) => ({
        status: `${body.order_id}`.startsWith('ord') ? 200 : 500,
      })
      await dispatching.announce(...rejected)
      await eventually(() => expect(dispatching.log).toContain('breaker open'))
      await managementOf(dispatching).sendTest({ id: endpointId })
      await dispatching.announce(...orders(20))
      await eventually(async () => expect(await pending()).toHaveLength(26))
      await eventually(async () => {
        dispatching.time.advance(10_000)
        expect(await pending()).toEqual([...rejected, null])
      })
    })

    it('when they are all that fails, a probe of another order closes the breaker for good', async () => {
      await dispatching.announce(...rejected)
      await eventually(() => expect(dispatching.log).toContain('breaker open'))
      await attempts(5)
      await dispatching.announce(...orders(20))
      await eventually(async () => expect(await pending()).toHaveLength(25))
      dispatching.time.advance(10_000)
      await allOthersDelivered()
      for (let retry = 1; retry <= 3; retry++) {
        const count = dispatching.attempts.length
        dispatching.time.advance(HOUR_MS)
        await eventually(() =>
          expect(dispatching.attempts.length).toBeGreaterThanOrEqual(count + rejected.length),
        )
      }
      expect(dispatching.log.filter((line) => line === 'breaker open')).toHaveLength(1)
    })
  })
})
