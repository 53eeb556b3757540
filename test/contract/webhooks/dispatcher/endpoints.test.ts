import { beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import type { ViewKey } from '../../../../src/orders/order-store.ts'
import { defaultSettings } from '../../../../src/webhooks/dispatcher/dispatcher-settings.ts'
import {
  type Dispatching,
  eventually,
  openDispatching,
  quietPeriod,
} from '../../../support/webhooks/dispatching.ts'
import { managementOf } from '../../../support/webhooks/management-of.ts'
import { withDeliveries, withEndpoints } from '../../../support/webhooks/stores/stubbed-stores.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

/** As long as an idle lane is kept. */
const REFRESH_MS = 60_000

describe.each(useWebhookStores())('changes of endpoints on %s', (_name, open) => {
  let dispatching: Dispatching
  beforeEach(async () => {
    dispatching = await openDispatching(open)
  })

  const states = (endpointId: string, ...expected: string[]) =>
    eventually(async () =>
      expect((await dispatching.deliveries(endpointId)).map(({ state }) => state)).toEqual(
        expected,
      ),
    )

  it('an endpoint that is created later receives the events from then on', async () => {
    dispatching.start()
    await dispatching.announce('ord_1')
    await quietPeriod()
    const { id } = await dispatching.subscribe({ createdAt: dispatching.time.clock() })
    // The promised start is five seconds later.
    dispatching.time.advance(5_000)
    await dispatching.announce('ord_2')
    await states(id, 'delivered')
    expect(dispatching.receivedOrders()).toEqual(['ord_2 1'])
  })

  it('a disabled endpoint receives nothing until it is enabled, and then all in order', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.change(id, { disabledReason: 'manual' })
    await dispatching.changesApplied()
    await dispatching.announce('ord_1', 'ord_1', 'ord_2', 'ord_1')
    await states(id, 'held', 'held', 'held', 'held')
    expect(dispatching.receiver.received).toEqual([])
    await dispatching.change(id, { disabledReason: null })
    await states(id, 'delivered', 'delivered', 'delivered', 'delivered')
    const ofOrder = dispatching.receivedOrders().filter((name) => name.startsWith('ord_1'))
    expect(ofOrder).toEqual(['ord_1 1', 'ord_1 2', 'ord_1 3'])
  })

  it('an event that follows the enabling of an endpoint waits until all before it are released', async () => {
    const { id } = await dispatching.subscribe({ disabledReason: 'manual' })
    const { stores } = dispatching
    const release = Promise.withResolvers<void>()
    dispatching.start({
      stores: withDeliveries(stores, {
        async releaseHeld(endpointId, nowMs) {
          await release.promise
          return stores.deliveries.releaseHeld(endpointId, nowMs)
        },
      }),
    })
    await dispatching.announce('ord_1')
    await states(id, 'held')
    await dispatching.change(id, { disabledReason: null })
    await dispatching.changesApplied()
    await dispatching.announce('ord_1')
    await states(id, 'held', 'pending')
    await quietPeriod()
    expect(dispatching.receivedOrders()).toEqual([])
    release.resolve()
    await states(id, 'delivered', 'delivered')
    expect(dispatching.receivedOrders()).toEqual(['ord_1 1', 'ord_1 2'])
  })

  it('what is pending when an endpoint is disabled is held', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.receiver.reply = () => ({ status: 500 })
    dispatching.start()
    await dispatching.announce('ord_1')
    await eventually(() => expect(dispatching.attempts).toHaveLength(1))
    await dispatching.change(id, { disabledReason: 'manual' })
    await states(id, 'held')
    dispatching.time.advance(60_000)
    await quietPeriod()
    expect(dispatching.receiver.received).toHaveLength(1)
  })

  it('several 410 at once end its requests, and what follows is held', async () => {
    const { id } = await dispatching.subscribe()
    const gone = Promise.withResolvers<{ status: number }>()
    dispatching.receiver.reply = () => gone.promise
    // The dispatcher's copy of the endpoint stays as it was.
    dispatching.start({ settings: { refreshMs: REFRESH_MS } })
    await dispatching.announce('ord_1', 'ord_2', 'ord_3')
    await eventually(() => expect(dispatching.receiver.received).toHaveLength(3))
    gone.resolve({ status: 410 })
    await states(id, 'failed', 'failed', 'failed')
    await dispatching.announce('ord_4')
    await quietPeriod()
    await dispatching.announce('ord_5')
    await quietPeriod()
    expect(dispatching.receiver.received).toHaveLength(3)
    dispatching.time.advance(REFRESH_MS)
    await states(id, 'failed', 'failed', 'failed', 'held', 'held')
    expect(dispatching.receiver.received).toHaveLength(3)
    expect(dispatching.notices).toHaveLength(1)
  })

  it('a read of endpoints from before a 410 does not let anything be sent', async () => {
    const { id } = await dispatching.subscribe()
    const { stores, receiver } = dispatching
    const gone = Promise.withResolvers<{ status: number }>()
    const slow = Promise.withResolvers<void>()
    let isRead = false
    receiver.reply = () => gone.promise
    dispatching.start({
      settings: { refreshMs: REFRESH_MS },
      stores: withEndpoints(stores, {
        async changes(token) {
          const changes = await stores.endpoints.changes(token)
          isRead = token !== null
          if (isRead) await slow.promise
          return changes
        },
      }),
    })
    await dispatching.announce('ord_1')
    await eventually(() => expect(receiver.received).toHaveLength(1))
    await dispatching.change(id, { description: 'before the 410' })
    dispatching.time.advance(REFRESH_MS)
    await eventually(() => expect(isRead).toBe(true))
    gone.resolve({ status: 410 })
    await eventually(() => expect(dispatching.notices).toHaveLength(1))
    await dispatching.announce('ord_2')
    slow.resolve()
    await quietPeriod()
    expect(receiver.received).toHaveLength(1)
    dispatching.time.advance(REFRESH_MS)
    await states(id, 'failed', 'held')
  })

  it('what a dispatcher did not hold before it crashed is held by the next one', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.receiver.reply = () => ({ status: 500 })
    const first = dispatching.start()
    await dispatching.announce('ord_1')
    await eventually(() => expect(dispatching.attempts).toHaveLength(1))
    await first.stop()
    await dispatching.change(id, { disabledReason: 'gone' })
    await states(id, 'pending')
    dispatching.start()
    await states(id, 'held')
  })

  it('what a dispatcher held by an endpoint that was enabled meanwhile is sent by the next one', async () => {
    const { id } = await dispatching.subscribe({ disabledReason: 'manual' })
    const first = dispatching.start()
    await dispatching.announce('ord_1', 'ord_1')
    await states(id, 'held', 'held')
    await first.stop()
    await dispatching.change(id, { disabledReason: null })
    await dispatching.announce('ord_1')
    dispatching.start()
    await states(id, 'delivered', 'delivered', 'delivered')
    expect(dispatching.receivedOrders()).toEqual(['ord_1 1', 'ord_1 2', 'ord_1 3'])
  })

  it('what a dispatcher held by an endpoint that was deleted meanwhile is canceled by the next one', async () => {
    const { id } = await dispatching.subscribe({ disabledReason: 'manual' })
    const first = dispatching.start()
    await dispatching.announce('ord_1')
    await states(id, 'held')
    await first.stop()
    await dispatching.change(id, { deletedAt: dispatching.time.clock() })
    dispatching.start()
    await states(id, 'canceled')
  })

  it('the deliveries of a deleted endpoint are canceled', async () => {
    const { id } = await dispatching.subscribe()
    const other = await dispatching.subscribe({ url: dispatching.receiver.url('/other') })
    dispatching.receiver.reply = () => ({ status: 500 })
    dispatching.start()
    await dispatching.announce('ord_1')
    await eventually(() => expect(dispatching.attempts).toHaveLength(2))
    await dispatching.change(id, { deletedAt: dispatching.time.clock() })
    await states(id, 'canceled')
    await states(other.id, 'pending')
  })

  describe('an endpoint that changes while an order is read', () => {
    let id: string
    let view: PromiseWithResolvers<void>
    beforeEach(async () => {
      id = (await dispatching.subscribe()).id
      view = Promise.withResolvers()
      let reads = 0
      const orders = {
        async getMany(keys: readonly ViewKey[]) {
          reads += 1
          await view.promise
          return keys.map(({ orderId }) => Buffer.from(JSON.stringify({ id: orderId })))
        },
      }
      dispatching.start({ orders })
      await dispatching.announce('ord_1')
      await eventually(() => expect(reads).toBe(1))
    })

    it.each([
      ['disabled', 'held', { disabledReason: 'manual' }],
      ['deleted', 'canceled', { deletedAt: Date.now() }],
    ] as const)('is sent nothing more once it is %s', async (_change, state, changes) => {
      await dispatching.change(id, changes)
      await states(id, state)
      view.resolve()
      await quietPeriod()
      expect(dispatching.receiver.received).toEqual([])
    })

    it('is sent its webhook at its new URL', async () => {
      await dispatching.change(id, { url: dispatching.receiver.url('/new') })
      await dispatching.changesApplied()
      view.resolve()
      await dispatching.delivers(id, 1)
      expect(dispatching.receiver.received.map(({ path }) => path)).toEqual(['/new'])
    })
  })

  it('an endpoint is sent what follows that was enabled before the response to its disabling', async () => {
    const { stores, receiver } = dispatching
    const isLate = Promise.withResolvers<void>()
    const isRead = Promise.withResolvers<void>()
    const isDisabled = Promise.withResolvers<void>()
    let isReadLate = false
    receiver.reply = () => ({ status: 410 })
    const { id } = await dispatching.subscribe()
    dispatching.start({
      stores: withEndpoints(stores, {
        async update(endpointId, change) {
          const updated = await stores.endpoints.update(endpointId, change)
          if (updated?.disabledReason !== 'gone') return updated
          isReadLate = true
          isDisabled.resolve()
          await isLate.promise
          return updated
        },
        // The dispatcher reads both changes at once.
        async changes(token) {
          if (isReadLate) await isRead.promise
          return stores.endpoints.changes(token)
        },
      }),
    })
    await dispatching.announce('ord_1')
    await isDisabled.promise
    receiver.reply = () => ({ status: 200 })
    await managementOf(dispatching).enableEndpoint({ id })
    isRead.resolve()
    await dispatching.changesApplied()
    isLate.resolve()
    await dispatching.announce('ord_2')
    await states(id, 'failed', 'delivered')
  })

  it('nothing more is sent after a 410, also before its result is stored', async () => {
    const { stores, receiver } = dispatching
    const isStored = Promise.withResolvers<void>()
    receiver.reply = () => ({ status: 410 })
    const { id } = await dispatching.subscribe()
    dispatching.start({
      stores: withDeliveries(stores, {
        async save(rows) {
          await isStored.promise
          return stores.deliveries.save(rows)
        },
      }),
    })
    await dispatching.announce('ord_1')
    await eventually(() => expect(receiver.received).toHaveLength(1))
    // The health of the endpoint is stored, which is a change of it.
    await eventually(async () =>
      expect((await stores.endpoints.byId(id))?.failingSince).not.toBeNull(),
    )
    await dispatching.changesApplied()
    await dispatching.announce('ord_2')
    await quietPeriod()
    expect(receiver.received).toHaveLength(1)
    isStored.resolve()
    await states(id, 'failed', 'held')
  })

  it('a changed URL counts for pending deliveries', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.receiver.reply = ({ path }) => ({ status: path === '/new' ? 200 : 500 })
    dispatching.start()
    await dispatching.announce('ord_1')
    await eventually(() => expect(dispatching.attempts).toHaveLength(1))
    await dispatching.change(id, { url: dispatching.receiver.url('/new') })
    await dispatching.changesApplied()
    await dispatching.advanceToRetry(id, 'ord_1 1', 1)
    await states(id, 'delivered')
    expect(dispatching.receiver.received.map(({ path }) => path)).toEqual(['/hooks', '/new'])
  })

  it('a delivery that a command made due again is sent, under the same webhook-id', async () => {
    const { id } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1')
    await states(id, 'delivered')
    const nowMs = dispatching.time.clock()
    const replay = { endpointId: id, sinceMs: 0, failedOnly: false, nowMs }
    expect(await dispatching.stores.deliveries.replay(replay)).toBe(1)
    await dispatching.change(id, {})
    await eventually(() => expect(dispatching.receiver.received).toHaveLength(2))
    await states(id, 'delivered')
    const [first, second] = dispatching.receiver.received
    expect(second?.body.id).toBe(first?.body.id)
    expect((await dispatching.deliveries(id))[0]?.attempts).toHaveLength(2)
  })

  it('pending deliveries of which no change was seen are found by the regular search', async () => {
    const { id } = await dispatching.subscribe()
    const first = dispatching.start({ settings: { reloadMs: 20 } })
    await dispatching.announce('ord_1')
    await states(id, 'delivered')
    const nowMs = dispatching.time.clock()
    await dispatching.stores.deliveries.replay({
      endpointId: id,
      sinceMs: 0,
      failedOnly: false,
      nowMs,
    })
    await eventually(() => expect(dispatching.receiver.received).toHaveLength(2))
    await first.stop()
  })

  it('a regular search that fails is repeated soon, not after another interval', async () => {
    const { heldEndpoints } = dispatching.stores.deliveries
    let searches = 0
    const stores = withDeliveries(dispatching.stores, {
      async heldEndpoints() {
        searches += 1
        if (searches === 2) throw new Unavailable('no response')
        return heldEndpoints()
      },
    })
    const { reloadMs } = defaultSettings
    dispatching.start({ stores, settings: { reloadMs } })
    await eventually(() => expect(searches).toBe(1))
    dispatching.time.advance(reloadMs)
    await eventually(() => expect(searches).toBe(3))
    await quietPeriod()
    expect(searches).toBe(3)
  })

  it('lastSuccessAt is written at the first success, and then at most hourly', async () => {
    const { id } = await dispatching.subscribe({ lastSuccessAt: null })
    dispatching.start()
    const lastSuccessAt = async () => (await dispatching.stores.endpoints.byId(id))?.lastSuccessAt
    await dispatching.announce('ord_1')
    // One read: another one may be of a replica that does not have the write yet.
    const first = await eventually(async () => {
      const writtenAt = await lastSuccessAt()
      expect(writtenAt).not.toBeNull()
      return writtenAt
    })
    await dispatching.announce('ord_2')
    await eventually(() => expect(dispatching.attempts).toHaveLength(2))
    await quietPeriod()
    expect(await lastSuccessAt()).toBe(first)
    dispatching.time.advance(3_600_000)
    await dispatching.announce('ord_3')
    await eventually(async () => expect(await lastSuccessAt()).not.toBe(first))
  })
})
