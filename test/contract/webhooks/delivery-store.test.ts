import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Delivery } from '../../../src/webhooks/deliveries/delivery.ts'
import type { DueQuery } from '../../../src/webhooks/deliveries/delivery-store.ts'
import {
  attempt,
  type DeliveryChanges,
  delivery,
  deliveryOf,
  testEvent,
} from '../../support/webhooks/delivery.ts'
import type { WebhookStoresUnderTest } from '../../support/webhooks/stores/stores-under-test.ts'
import { useWebhookStores } from './webhook-stores-under-test.ts'

const ids = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id)

/** The stored part of a delivery that was read. */
function withoutRevision<T extends Delivery & { revision: unknown }>({ revision, ...rest }: T) {
  expect(revision).toBeDefined()
  return rest
}

describe.each(useWebhookStores())('the delivery store on %s', (_name, open) => {
  let stores: WebhookStoresUnderTest
  beforeEach(async () => {
    stores = await open()
  })
  afterEach(() => stores.close())

  async function create(...changes: DeliveryChanges[]): Promise<Delivery[]> {
    const created = changes.map(delivery)
    await stores.deliveries.create(created)
    await stores.refresh()
    return created
  }

  async function read(id: string) {
    const found = await stores.deliveries.byId(id)
    if (found === null) throw new Error(`expected the delivery ${id}`)
    return found
  }

  async function due(query: Partial<DueQuery> = {}) {
    const all = { endpointId: 'we_1', nowMs: 99_000, limit: 100 }
    return ids(
      await stores.deliveries.due({ ...all, excludedOrders: [], excludedIds: [], ...query }),
    )
  }

  describe('a created delivery', () => {
    it.each([
      ['of an order', delivery()],
      ['with an empty change', delivery({ event: { change: {} } })],
      ['of a test', deliveryOf(testEvent())],
      [
        'with two attempts',
        delivery({
          attempts: [attempt(), attempt({ at: 21_000, status: null, excerpt: null })],
          step: 2,
          nextAt: 22_000,
          firstFailedAt: 20_000,
        }),
      ],
      [
        'that was delivered',
        delivery({ state: 'delivered', nextAt: null, attempts: [attempt({ error: null })] }),
      ],
      ['that is held', delivery({ state: 'held', nextAt: null, heldAt: 15_000 })],
    ])('is returned as it was stored, %s', async (_what, stored) => {
      await stores.deliveries.create([stored])
      await stores.refresh()
      expect(withoutRevision(await read(stored.id))).toEqual(stored)
      const listed = await stores.deliveries.list({ endpointId: 'we_1', limit: 10 })
      expect(listed.map(withoutRevision)).toEqual([stored])
    })

    it('is null where there is none', async () => {
      expect(await stores.deliveries.byId('dlv_missing')).toBeNull()
    })

    it('stays as it is when it is created again, and others of the call are stored', async () => {
      const [first] = await create({})
      const again = delivery({ state: 'delivered', nextAt: null })
      const other = delivery({ event: { sequence: 2 } })
      await stores.deliveries.create([again, other])
      expect(withoutRevision(await read(delivery().id))).toEqual(first)
      expect(withoutRevision(await read(other.id))).toEqual(other)
    })

    it('needs no delivery in the call', async () => {
      await stores.deliveries.create([])
      await stores.refresh()
      expect(await stores.deliveries.list({ endpointId: 'we_1', limit: 10 })).toEqual([])
    })
  })

  describe('the list', () => {
    it('has the deliveries of one endpoint, by instant and sequence, newest first', async () => {
      await create(
        { id: 'a', event: { sequence: 2, recordedAt: 10_000 } },
        { id: 'b', event: { sequence: 10, recordedAt: 10_000 } },
        { id: 'c', event: { sequence: 1, recordedAt: 12_000 } },
        { id: 'd', event: { sequence: 3, recordedAt: 9_000 } },
        { id: 'e', endpointId: 'we_2' },
      )
      const listed = await stores.deliveries.list({ endpointId: 'we_1', limit: 10 })
      expect(ids(listed)).toEqual(['c', 'b', 'a', 'd'])
      const page = await stores.deliveries.list({ endpointId: 'we_1', limit: 2 })
      expect(ids(page)).toEqual(['c', 'b'])
    })

    it('continues after any delivery, also between orders of one bulk and tests of one instant', async () => {
      const orders = ['ord_1', 'ord_2', 'ord_3']
      await create(
        ...orders.map((orderId) => ({ id: `one ${orderId}`, event: { orderId } })),
        { id: 'second', event: { sequence: 2 } },
        { id: 'earlier', event: { sequence: 7, recordedAt: 9_000 } },
      )
      const tests = ['evt_1', 'evt_2', 'evt_3'].map((id) => deliveryOf(testEvent(id)))
      await stores.deliveries.create(tests)
      const listed = await stores.deliveries.list({ endpointId: 'we_1', limit: 10 })
      expect(listed).toHaveLength(8)
      for (const [at, { id, event }] of listed.entries()) {
        const after = { id, recordedAt: event.recordedAt, sequence: event.sequence ?? 0 }
        const rest = await stores.deliveries.list({ endpointId: 'we_1', limit: 10, after })
        expect(ids(rest)).toEqual(ids(listed.slice(at + 1)))
      }
    })

    it('has only the states of the query, each of them', async () => {
      await create(
        { id: 'a', state: 'failed', nextAt: null, event: { sequence: 1 } },
        { id: 'b', state: 'expired', nextAt: null, event: { sequence: 2 } },
        { id: 'c', state: 'delivered', nextAt: null, event: { sequence: 3 } },
        { id: 'd', state: 'canceled', nextAt: null, event: { sequence: 4 } },
        { id: 'e', state: 'held', nextAt: null, heldAt: 1_000, event: { sequence: 5 } },
        { id: 'f', event: { sequence: 6 } },
      )
      const list = async (...states: Delivery['state'][]) =>
        ids(await stores.deliveries.list({ endpointId: 'we_1', states, limit: 10 }))
      expect(await list('failed', 'expired')).toEqual(['b', 'a'])
      expect(await list('expired')).toEqual(['b'])
      expect(await list('pending', 'held')).toEqual(['f', 'e'])
      expect(await list('canceled', 'delivered')).toEqual(['d', 'c'])
    })
  })

  describe('the due deliveries', () => {
    it('are pending, of one endpoint, and due at the instant of the query', async () => {
      await create(
        { id: 'a', nextAt: 50_000 },
        { id: 'b', nextAt: 50_001, event: { sequence: 2 } },
        { id: 'c', state: 'held', nextAt: null, event: { sequence: 3 } },
        { id: 'd', state: 'delivered', nextAt: null, event: { sequence: 4 } },
        { id: 'e', endpointId: 'we_2' },
      )
      expect(await due({ nowMs: 50_000 })).toEqual(['a'])
      expect(await due({ nowMs: 50_001 })).toEqual(['a', 'b'])
      expect(await due({ nowMs: 49_999 })).toEqual([])
    })

    it('are in the order of their next attempt, then instant, then sequence', async () => {
      await create(
        { id: 'a', nextAt: 50_000, event: { recordedAt: 10_000, sequence: 10 } },
        { id: 'b', nextAt: 50_000, event: { recordedAt: 10_000, sequence: 9 } },
        { id: 'c', nextAt: 50_000, event: { recordedAt: 9_000, sequence: 11 } },
        { id: 'd', nextAt: 49_000, event: { recordedAt: 11_000, sequence: 12 } },
      )
      expect(await due()).toEqual(['d', 'c', 'b', 'a'])
      expect(await due({ limit: 2 })).toEqual(['d', 'c'])
    })

    it('leave out the orders and deliveries of the query, which do not count for the limit', async () => {
      await create(
        { id: 'a', nextAt: 1, event: { orderId: 'ord_1' } },
        { id: 'b', nextAt: 2, event: { orderId: 'ord_2' } },
        { id: 'c', nextAt: 3, event: { orderId: 'ord_3' } },
        { id: 'd', nextAt: 4, event: { orderId: 'ord_1', sequence: 2 } },
        { id: 'e', nextAt: 5, event: { orderId: 'ord_4' } },
      )
      const excluded = { excludedOrders: ['ord_1', 'ord_9'], excludedIds: ['b'] }
      expect(await due({ ...excluded, limit: 2 })).toEqual(['c', 'e'])
    })

    it('include a test event, which has no order, whatever orders are left out', async () => {
      const created = deliveryOf(testEvent())
      await stores.deliveries.create([created])
      await stores.refresh()
      expect(await due({ excludedOrders: ['ord_1'], excludedIds: ['a'] })).toEqual([created.id])
    })

    it('announce when the first of an endpoint is due', async () => {
      await create(
        { id: 'a', nextAt: 50_000 },
        { id: 'b', nextAt: 40_000, event: { sequence: 2 } },
        { id: 'c', nextAt: null, state: 'held', event: { sequence: 3 } },
        { id: 'd', endpointId: 'we_2', nextAt: 70_000 },
        { id: 'e', endpointId: 'we_3', nextAt: null, state: 'delivered' },
      )
      expect(await stores.deliveries.nextDueAt('we_1')).toBe(40_000)
      expect(await stores.deliveries.nextDueAt('we_2')).toBe(70_000)
      expect(await stores.deliveries.nextDueAt('we_3')).toBeNull()
      expect(await stores.deliveries.nextDueAt('we_4')).toBeNull()
      const byEndpoint = new Map([
        ['we_1', 40_000],
        ['we_2', 70_000],
      ])
      expect(await stores.deliveries.nextDueByEndpoint()).toEqual(byEndpoint)
    })

    it('that are held are known by their endpoints', async () => {
      const held = { state: 'held', nextAt: null, heldAt: 1_000 } as const
      await create(
        { id: 'a', ...held },
        { id: 'b', ...held, event: { sequence: 2 } },
        { id: 'c', endpointId: 'we_2', ...held },
        { id: 'd', endpointId: 'we_3' },
      )
      expect(await stores.deliveries.heldEndpoints()).toEqual(['we_1', 'we_2'])
      await stores.deliveries.releaseHeld('we_1', 20_000)
      expect(await stores.deliveries.heldEndpoints()).toEqual(['we_2'])
    })

    it('have no endpoint where nothing is pending', async () => {
      await create({ state: 'delivered', nextAt: null })
      expect(await stores.deliveries.nextDueByEndpoint()).toEqual(new Map())
    })

    it('are counted over all endpoints, with the oldest instant', async () => {
      expect(await stores.deliveries.backlog(99_000)).toEqual({ due: 0, oldestDueAt: null })
      await create(
        { id: 'a', nextAt: 50_000 },
        { id: 'b', endpointId: 'we_2', nextAt: 40_000 },
        { id: 'c', endpointId: 'we_2', nextAt: 60_000, event: { sequence: 2 } },
        { id: 'd', endpointId: 'we_3', nextAt: null, state: 'held', heldAt: 1_000 },
      )
      expect(await stores.deliveries.backlog(50_000)).toEqual({ due: 2, oldestDueAt: 40_000 })
      expect(await stores.deliveries.backlog(39_999)).toEqual({ due: 0, oldestDueAt: null })
    })

    it('are known of any number of endpoints', async () => {
      const endpointIds = Array.from({ length: 1_100 }, (_, n) => `we_${n}`)
      await create(...endpointIds.map((endpointId, n) => ({ endpointId, nextAt: 10_000 + n })))
      const expected = new Map(endpointIds.map((endpointId, n) => [endpointId, 10_000 + n]))
      expect(await stores.deliveries.nextDueByEndpoint()).toEqual(expected)
      expect(await stores.deliveries.backlog(10_999)).toEqual({ due: 1_000, oldestDueAt: 10_000 })
    })

    it('of an endpoint that failed since an instant are found, due or not', async () => {
      await create(
        { id: 'a', firstFailedAt: 20_000, nextAt: 999_000 },
        { id: 'b', firstFailedAt: 19_999, event: { sequence: 2 } },
        { id: 'c', firstFailedAt: null, event: { sequence: 3 } },
        { id: 'd', firstFailedAt: 30_000, event: { sequence: 4 } },
        { id: 'e', firstFailedAt: 30_000, endpointId: 'we_2' },
        { id: 'f', firstFailedAt: 30_000, state: 'expired', nextAt: null, event: { sequence: 5 } },
      )
      expect(ids(await stores.deliveries.failingSince('we_1', 20_000, 10)).sort()).toEqual([
        'a',
        'd',
      ])
      expect(await stores.deliveries.failingSince('we_1', 20_000, 1)).toHaveLength(1)
    })
  })

  describe('a saved delivery', () => {
    it('replaces the one that was read, and can be saved again', async () => {
      await create({})
      const before = await read(delivery().id)
      const failed = {
        ...before,
        nextAt: 25_000,
        attempts: [attempt()],
        step: 1,
        firstFailedAt: 20_000,
      }
      const [saved] = await stores.deliveries.save([failed])
      if (!saved) throw new Error('expected the saved delivery')
      expect(withoutRevision(saved)).toEqual(withoutRevision(failed))
      expect(await read(saved.id)).toEqual(saved)
      const delivered = {
        ...saved,
        state: 'delivered' as const,
        nextAt: null,
        attempts: [attempt(), attempt({ at: 25_000, status: 200, error: null })],
        firstFailedAt: null,
      }
      const [last] = await stores.deliveries.save([delivered])
      expect(await read(saved.id)).toEqual(last)
      expect(last).toMatchObject(withoutRevision(delivered))
      await stores.refresh()
      expect(await due()).toEqual([])
    })

    it('that changed since it was read stays, and the others of the call are stored', async () => {
      await create({ id: 'a' }, { id: 'b', event: { sequence: 2 } })
      const [a, b] = [await read('a'), await read('b')]
      const [newer] = await stores.deliveries.save([{ ...a, nextAt: 11_000 }])
      const results = await stores.deliveries.save([
        { ...a, nextAt: 12_000 },
        { ...b, nextAt: 13_000 },
      ])
      expect(results).toEqual([null, await read('b')])
      expect(await read('a')).toEqual(newer)
      expect(await read('b')).toMatchObject({ nextAt: 13_000 })
    })

    it('that was removed is not stored again', async () => {
      await create({ state: 'delivered', nextAt: null })
      const before = await read(delivery().id)
      await stores.deliveries.purge(99_000)
      expect(await stores.deliveries.save([before])).toEqual([null])
      expect(await stores.deliveries.byId(before.id)).toBeNull()
    })

    it('stays when another process held, released or canceled it meanwhile', async () => {
      const { deliveries } = await stores.openAgain()
      const changes: (() => Promise<unknown>)[] = [
        () => deliveries.hold('we_1', 20_000),
        () => deliveries.releaseHeld('we_1', 21_000),
        () => deliveries.cancel('we_1'),
      ]
      await create({})
      for (const change of changes) {
        const before = await read(delivery().id)
        await change()
        await stores.refresh()
        expect(await stores.deliveries.save([{ ...before, step: 9 }])).toEqual([null])
        expect(await read(before.id)).not.toMatchObject({ step: 9 })
      }
    })

    it('needs no delivery in the call', async () => {
      expect(await stores.deliveries.save([])).toEqual([])
    })
  })
})
