import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Delivery } from '../../../src/webhooks/deliveries/delivery.ts'
import type { LatestInstants } from '../../../src/webhooks/deliveries/delivery-store.ts'
import { onServices } from '../../support/stores/backend.ts'
import { attempt, type DeliveryChanges, delivery } from '../../support/webhooks/delivery.ts'
import type { WebhookStoresUnderTest } from '../../support/webhooks/stores/stores-under-test.ts'
import { useWebhookStores } from './webhook-stores-under-test.ts'

/** More than any implementation changes in one request or transaction. */
const MANY = 2_500

/** Instants that change nothing. */
const latest: LatestInstants = {
  nextAt: 10_000_000,
  firstFailedAt: 10_000_000,
  unfailed: { afterMs: 10_000_000, dueAt: 0 },
}

const inEachState: DeliveryChanges[] = [
  { id: 'pending' },
  { id: 'delivered', state: 'delivered', nextAt: null, event: { sequence: 2 } },
  { id: 'failed', state: 'failed', nextAt: null, event: { sequence: 3 } },
  { id: 'held', state: 'held', nextAt: null, heldAt: 15_000, event: { sequence: 4 } },
  { id: 'canceled', state: 'canceled', nextAt: null, event: { sequence: 5 } },
  { id: 'expired', state: 'expired', nextAt: null, event: { sequence: 6 } },
]

describe.each(useWebhookStores())('the delivery store on %s', (_name, open) => {
  let stores: WebhookStoresUnderTest
  beforeEach(async () => {
    stores = await open()
  })
  afterEach(() => stores.close())

  async function create(...changes: DeliveryChanges[]): Promise<void> {
    await stores.deliveries.create(changes.map(delivery))
    await stores.refresh()
  }

  async function list(endpointId = 'we_1') {
    await stores.refresh()
    return stores.deliveries.list({ endpointId, limit: MANY * 2 })
  }

  /** The state of each delivery of an endpoint, by its id. */
  async function states(endpointId = 'we_1'): Promise<Record<string, Delivery['state']>> {
    return Object.fromEntries((await list(endpointId)).map(({ id, state }) => [id, state]))
  }

  async function due() {
    await stores.refresh()
    const query = { endpointId: 'we_1', nowMs: 99_000, limit: MANY * 2 }
    const found = await stores.deliveries.due({ ...query, excludedOrders: [], excludedIds: [] })
    return found.map(({ id }) => id)
  }

  const unchanged = {
    pending: 'pending',
    delivered: 'delivered',
    failed: 'failed',
    held: 'held',
    canceled: 'canceled',
    expired: 'expired',
  }

  describe('an endpoint that is disabled', () => {
    it('holds its pending deliveries, and returns their number', async () => {
      await create(...inEachState, { id: 'other', endpointId: 'we_2' })
      expect(await stores.deliveries.hold('we_1', 30_000)).toBe(1)
      expect(await states()).toEqual({ ...unchanged, pending: 'held' })
      expect(await states('we_2')).toEqual({ other: 'pending' })
      const held = await stores.deliveries.byId('pending')
      expect(held).toMatchObject({ nextAt: null, heldAt: 30_000 })
      expect(await stores.deliveries.byId('held')).toMatchObject({ heldAt: 15_000 })
      expect(await stores.deliveries.hold('we_1', 31_000)).toBe(0)
    })

    it('keeps the attempts of a held delivery', async () => {
      await create({ id: 'a', attempts: [attempt()], step: 1, firstFailedAt: 20_000 })
      await stores.deliveries.hold('we_1', 30_000)
      expect(await stores.deliveries.byId('a')).toMatchObject({ attempts: [attempt()] })
    })
  })

  describe('while the deliveries of many orders change', () => {
    const orders = Array.from({ length: MANY / 2 }, (_, n) => `ord_${n}`)
    const ended: DeliveryChanges = { state: 'delivered', nextAt: null }
    const failing: DeliveryChanges = { nextAt: 200_000, step: 1, firstFailedAt: 15_000 }
    const hold = () => stores.deliveries.hold('we_1', 30_000)
    const replay = () =>
      stores.deliveries.replay({
        ...{ endpointId: 'we_1', sinceMs: 0, failedOnly: false, nowMs: 30_000 },
      })

    /** What a dispatcher reads. */
    async function pending(): Promise<Set<string>> {
      const failing = await stores.deliveries.failingSince('we_1', 0, MANY)
      return new Set([...failing.map(({ id }) => id), ...(await due())])
    }

    it.each<[string, DeliveryChanges, DeliveryChanges, () => Promise<number>]>([
      ['a replay makes no later event pending alone', ended, ended, replay],
      ['a hold leaves no later event pending alone', {}, {}, hold],
      ['a hold leaves no event pending without the failing one before it', failing, {}, hold],
    ])('%s', async (_what, first, second, change) => {
      // In another order than that of the events.
      for (const [at, changes] of [second, first].entries()) {
        const sequence = 2 - at
        const event = { sequence, recordedAt: 10_000 + sequence }
        await create(
          ...orders.map((orderId) => ({
            ...{ id: `${orderId} ${sequence}`, ...changes },
            event: { ...event, orderId },
          })),
        )
      }
      let isChanged = false
      const changed = change().finally(() => {
        isChanged = true
      })
      const sizes = new Set<number>()
      for (; !isChanged; await setImmediate()) {
        const ids = await pending()
        sizes.add(ids.size)
        expect(orders.filter((id) => ids.has(`${id} 2`) && !ids.has(`${id} 1`))).toEqual([])
      }
      expect(await changed).toBe(MANY)
      // Between two batches of SQLite. On OpenSearch a read may take longer than the whole change.
      if (!onServices) expect(sizes.size).toBeGreaterThan(1)
    })
  })

  it('pending deliveries that are due too late become due earlier, also of other endpoints', async () => {
    await create(
      ...inEachState,
      { id: 'late', nextAt: 50_001, step: 3, firstFailedAt: 20_000, event: { sequence: 7 } },
      { id: 'in time', nextAt: 50_000, event: { sequence: 8 } },
      { id: 'other', endpointId: 'we_2', nextAt: 9_999_000 },
    )
    await stores.deliveries.limitInstants({ ...latest, nextAt: 50_000 })
    const nextAt = (endpointId?: string) =>
      list(endpointId).then((found) => Object.fromEntries(found.map((row) => [row.id, row.nextAt])))
    expect(await nextAt()).toEqual({
      ...{ pending: 10_000, delivered: null, failed: null, held: null, canceled: null },
      ...{ expired: null, late: 50_000, 'in time': 50_000 },
    })
    expect(await nextAt('we_2')).toEqual({ other: 50_000 })
    const late = await stores.deliveries.byId('late')
    expect(late).toMatchObject({ step: 3, firstFailedAt: 20_000 })
  })

  it('a first failure that is too late becomes earlier while its delivery is pending', async () => {
    const failed = { attempts: [attempt()], step: 1, nextAt: 40_000 }
    await create(
      { id: 'late', ...failed, firstFailedAt: 30_001 },
      { id: 'in time', ...failed, firstFailedAt: 30_000, event: { sequence: 2 } },
      { id: 'never', ...failed, firstFailedAt: null, event: { sequence: 3 } },
      { id: 'both', ...failed, firstFailedAt: 9_000_000, nextAt: 9_999_000, endpointId: 'we_2' },
      { id: 'ended', ...failed, firstFailedAt: 30_001, state: 'expired', nextAt: null },
    )
    await stores.deliveries.limitInstants({ ...latest, nextAt: 50_000, firstFailedAt: 30_000 })
    const read = (id: string) => stores.deliveries.byId(id)
    expect(await read('late')).toMatchObject({ firstFailedAt: 30_000, nextAt: 40_000, step: 1 })
    expect(await read('in time')).toMatchObject({ firstFailedAt: 30_000 })
    expect(await read('never')).toMatchObject({ firstFailedAt: null })
    expect(await read('both')).toMatchObject({ firstFailedAt: 30_000, nextAt: 50_000 })
    expect(await read('ended')).toMatchObject({ firstFailedAt: 30_001 })
  })

  it('a delivery without a failure that is due too late becomes due now', async () => {
    await create(
      { id: 'late', nextAt: 40_001 },
      { id: 'later', nextAt: 60_000, event: { sequence: 2 } },
      { id: 'in time', nextAt: 40_000, event: { sequence: 3 } },
      { id: 'failed', nextAt: 40_001, firstFailedAt: 20_000, event: { sequence: 4 } },
      { id: 'ended', nextAt: null, state: 'delivered', event: { sequence: 5 } },
      { id: 'other', nextAt: 40_001, endpointId: 'we_2' },
    )
    const unfailed = { afterMs: 40_000, dueAt: 30_000 }
    await stores.deliveries.limitInstants({ ...latest, nextAt: 50_000, unfailed })
    const nextAt = async (id: string) => (await stores.deliveries.byId(id))?.nextAt
    for (const id of ['late', 'later', 'other']) expect(await nextAt(id)).toBe(30_000)
    for (const [id, at] of [
      ['in time', 40_000],
      ['failed', 40_001],
      ['ended', null],
    ] as const)
      expect(await nextAt(id)).toBe(at)
  })

  it('a delivery that became due earlier is no longer as an earlier read returned it', async () => {
    await create({ id: 'a', nextAt: 60_000 })
    const read = await stores.deliveries.byId('a')
    await stores.deliveries.limitInstants({ ...latest, nextAt: 50_000 })
    if (read === null) throw new Error('expected a delivery')
    expect(await stores.deliveries.save([{ ...read, step: 1 }])).toEqual([null])
  })

  describe('an endpoint that is enabled again', () => {
    it('sends what was held with a new schedule, and the number is returned', async () => {
      await create(...inEachState, { id: 'other', endpointId: 'we_2', state: 'held', nextAt: null })
      await create({
        id: 'failing',
        attempts: [attempt()],
        step: 3,
        firstFailedAt: 20_000,
        event: { sequence: 7 },
      })
      await stores.deliveries.hold('we_1', 25_000)
      await stores.refresh()
      expect(await stores.deliveries.releaseHeld('we_1', 30_000)).toBe(3)
      // Due at the instant of its record, as an event that is fanned out later.
      const released = { state: 'pending', nextAt: 10_000, heldAt: null, step: 0 }
      for (const id of ['held', 'pending', 'failing'])
        expect(await stores.deliveries.byId(id)).toMatchObject({ ...released, firstFailedAt: null })
      expect(await stores.deliveries.byId('failing')).toMatchObject({ attempts: [attempt()] })
      expect(await states()).toEqual({ ...unchanged, held: 'pending', failing: 'pending' })
      expect(await states('we_2')).toEqual({ other: 'held' })
    })

    it('sends what was held in the order of the events', async () => {
      const held = { state: 'held', nextAt: null, heldAt: 15_000 } as const
      await create(
        { id: 'c', ...held, event: { recordedAt: 11_000, sequence: 1 } },
        { id: 'b', ...held, event: { recordedAt: 10_000, sequence: 10 } },
        { id: 'a', ...held, event: { recordedAt: 10_000, sequence: 9 } },
      )
      await stores.deliveries.releaseHeld('we_1', 30_000)
      expect(await due()).toEqual(['a', 'b', 'c'])
    })
  })

  it('cancels pending and held deliveries of a deleted endpoint', async () => {
    await create(...inEachState, { id: 'other', endpointId: 'we_2' })
    await stores.deliveries.cancel('we_1')
    expect(await states()).toEqual({ ...unchanged, pending: 'canceled', held: 'canceled' })
    expect(await states('we_2')).toEqual({ other: 'pending' })
    expect(await stores.deliveries.byId('pending')).toMatchObject({ nextAt: null })
  })

  it('expires what was held before an instant, of every endpoint', async () => {
    const held = { state: 'held', nextAt: null } as const
    await create(
      { id: 'a', ...held, heldAt: 14_999 },
      { id: 'b', ...held, heldAt: 15_000, event: { sequence: 2 } },
      { id: 'c', event: { sequence: 3 } },
      { id: 'd', ...held, heldAt: 1_000, endpointId: 'we_2' },
    )
    await stores.deliveries.expireHeld(15_000)
    expect(await states()).toEqual({ a: 'expired', b: 'held', c: 'pending' })
    expect(await states('we_2')).toEqual({ d: 'expired' })
  })

  describe('a replay', () => {
    const replay = { endpointId: 'we_1', sinceMs: 0, failedOnly: false, nowMs: 30_000 }

    it('makes everything that ended pending under the same ids, except what was canceled', async () => {
      await create(...inEachState)
      expect(await stores.deliveries.replay(replay)).toBe(3)
      const replayed = { delivered: 'pending', failed: 'pending', expired: 'pending' }
      expect(await states()).toEqual({ ...unchanged, ...replayed })
    })

    it('of failures leaves out what was delivered', async () => {
      await create(...inEachState)
      expect(await stores.deliveries.replay({ ...replay, failedOnly: true })).toBe(2)
      expect(await states()).toEqual({ ...unchanged, failed: 'pending', expired: 'pending' })
    })

    it('begins at an instant, and concerns one endpoint', async () => {
      const failed = { state: 'failed', nextAt: null } as const
      await create(
        { id: 'a', ...failed, event: { recordedAt: 9_999 } },
        { id: 'b', ...failed, event: { recordedAt: 10_000, sequence: 2 } },
        { id: 'c', ...failed, endpointId: 'we_2' },
      )
      expect(await stores.deliveries.replay({ ...replay, sinceMs: 10_000 })).toBe(1)
      expect(await states()).toEqual({ a: 'failed', b: 'pending' })
      expect(await states('we_2')).toEqual({ c: 'failed' })
    })

    it.each([false, true])(
      'includes earlier events that failed or were held since then (failures alone: %s)',
      async (failedOnly) => {
        const failed = { state: 'failed', nextAt: null } as const
        const expired = { state: 'expired', nextAt: null } as const
        const attempts = [attempt({ at: 19_000 }), attempt({ at: 20_000, status: 410 })]
        await create(
          { id: 'a', ...failed, firstFailedAt: 20_000, attempts: attempts.slice(1) },
          { id: 'b', ...expired, firstFailedAt: 20_000, event: { sequence: 2 } },
          { id: 'c', ...expired, heldAt: 20_000, event: { sequence: 3 } },
          { id: 'd', ...failed, firstFailedAt: 19_000, attempts, event: { sequence: 4 } },
          { id: 'e', ...failed, firstFailedAt: 19_999, event: { sequence: 5 } },
          { id: 'f', ...expired, heldAt: 19_999, event: { sequence: 6 } },
          { id: 'g', state: 'delivered', nextAt: null, attempts, event: { sequence: 7 } },
        )
        expect(await stores.deliveries.replay({ ...replay, sinceMs: 20_000, failedOnly })).toBe(4)
        const kept = { e: 'failed', f: 'expired', g: 'delivered' }
        const replayed = { a: 'pending', b: 'pending', c: 'pending', d: 'pending' }
        expect(await states()).toEqual({ ...kept, ...replayed })
      },
    )

    it('leaves out what is delivered after its call', async () => {
      const delivered = { state: 'delivered', nextAt: null } as const
      await create(
        { id: 'a', ...delivered, attempts: [attempt({ at: replay.nowMs })] },
        { id: 'b', ...delivered, attempts: [attempt({ at: replay.nowMs + 1 })] },
      )
      expect(await stores.deliveries.replay(replay)).toBe(1)
      expect(await states()).toEqual({ a: 'pending', b: 'delivered' })
    })

    it('keeps earlier attempts, and starts the schedule anew', async () => {
      const attempts = [attempt(), attempt({ at: 21_000 })]
      const failed = { state: 'expired', nextAt: null, attempts } as const
      await create({ id: 'a', ...failed, step: 16, firstFailedAt: 20_000, heldAt: 25_000 })
      await stores.deliveries.replay(replay)
      expect(await stores.deliveries.byId('a')).toMatchObject({
        state: 'pending',
        nextAt: 30_000,
        attempts,
        step: 0,
        firstFailedAt: null,
        heldAt: null,
      })
    })

    it('sends in the order of the events', async () => {
      const failed = { state: 'failed', nextAt: null } as const
      await create(
        { id: 'c', ...failed, event: { recordedAt: 11_000, sequence: 1 } },
        { id: 'b', ...failed, event: { recordedAt: 10_000, sequence: 10 } },
        { id: 'a', ...failed, event: { recordedAt: 10_000, sequence: 9 } },
      )
      await stores.deliveries.replay(replay)
      expect(await due()).toEqual(['a', 'b', 'c'])
    })
  })

  describe('an order that an account no longer has', () => {
    const removal = { accountId: 'acc_1', orderId: 'ord_1', sequence: 10, recordedAt: 10_000 }
    const forget = () => stores.deliveries.forgetOrders([removal])
    const read = async (id: string) => stores.deliveries.byId(id)

    it('has its earlier deliveries canceled that are pending or held', async () => {
      await create(...inEachState)
      await forget()
      expect(await states()).toEqual({ ...unchanged, pending: 'canceled', held: 'canceled' })
      expect(await read('pending')).toMatchObject({ nextAt: null })
    })

    it('leaves no change and no excerpt in earlier deliveries, to any endpoint', async () => {
      const attempts = [attempt(), attempt({ at: 21_000, status: null, excerpt: null })]
      await create(
        { id: 'a', attempts },
        { id: 'b', attempts, state: 'delivered', nextAt: null, endpointId: 'we_2' },
        { id: 'c', attempts: [], state: 'canceled', nextAt: null, endpointId: 'we_3' },
      )
      await forget()
      const kept = attempts.map((one) => ({ ...one, excerpt: null }))
      for (const id of ['a', 'b'])
        expect(await read(id)).toMatchObject({ event: { change: {} }, attempts: kept })
      for (const id of ['a', 'b', 'c']) expect((await read(id))?.event.change).toEqual({})
    })

    it('is forgotten by deliveries of before a loss, after which sequences started again, and by none after it', async () => {
      await create(
        { id: 'a', attempts: [attempt()], event: { sequence: 12, recordedAt: 9_999 } },
        { id: 'b', event: { sequence: 11, recordedAt: 10_000 } },
        { id: 'c', event: { sequence: 1, recordedAt: 10_001 } },
      )
      await forget()
      expect(await states()).toEqual({ a: 'canceled', b: 'pending', c: 'pending' })
      expect(await read('a')).toMatchObject({
        event: { change: {} },
        attempts: [{ excerpt: null }],
      })
    })

    it('is forgotten together with many others, each before its own removal', async () => {
      await create(
        { id: 'a', event: { sequence: 9 } },
        { id: 'b', event: { orderId: 'ord_2', sequence: 9 } },
        { id: 'c', event: { accountId: 'acc_2', sequence: 9 } },
        { id: 'd', event: { accountId: 'acc_2', orderId: 'ord_2' } },
      )
      const others = Array.from({ length: 1_000 }, (_, index) => ({
        ...removal,
        orderId: `ord_other_${index}`,
      }))
      await stores.deliveries.forgetOrders([
        { ...removal, orderId: 'ord_2', sequence: 9 },
        ...others,
        { ...removal, accountId: 'acc_2' },
        removal,
      ])
      expect(await states()).toEqual({ a: 'canceled', b: 'pending', c: 'canceled', d: 'pending' })
    })

    it('keeps later deliveries, other orders and the deliveries of other accounts', async () => {
      await create(
        { id: 'a', attempts: [attempt()], event: { sequence: 10 } },
        { id: 'b', attempts: [attempt()], event: { orderId: 'ord_2' } },
        { id: 'c', attempts: [attempt()], event: { accountId: 'acc_2' } },
      )
      const before = await list()
      await forget()
      expect(await list()).toEqual(before)
    })

    it('rejects the result of an attempt that was under way', async () => {
      await create(
        { id: 'a', attempts: [attempt()] },
        {
          id: 'b',
          state: 'delivered',
          nextAt: null,
          event: { sequence: 2 },
        },
      )
      const underWay = [await read('a'), await read('b')].filter((found) => found !== null)
      await forget()
      expect(await stores.deliveries.save(underWay)).toEqual([null, null])
    })
  })

  it('removes what ended of events recorded before an instant', async () => {
    await create(...inEachState)
    await create(
      { id: 'old', state: 'delivered', nextAt: null, event: { sequence: 7, recordedAt: 9_999 } },
      { id: 'other', state: 'failed', nextAt: null, endpointId: 'we_2', event: { recordedAt: 1 } },
    )
    await stores.deliveries.purge(10_000)
    expect(await states()).toEqual(unchanged)
    expect(await states('we_2')).toEqual({})
    await stores.deliveries.purge(10_001)
    expect(await states()).toEqual({ pending: 'pending', held: 'held' })
  })

  it('removes the excerpts of attempts before an instant, whatever the state', async () => {
    const attempts = [attempt({ at: 1_000 }), attempt({ at: 2_000 }), attempt({ at: 3_000 })]
    await create(
      { id: 'a', attempts },
      { id: 'b', attempts, state: 'delivered', nextAt: null, event: { sequence: 2 } },
      { id: 'c', attempts: [attempt({ at: 2_000 })], event: { sequence: 3 } },
    )
    const [first, ...rest] = attempts
    await stores.deliveries.purgeExcerpts(2_000)
    await stores.refresh()
    for (const id of ['a', 'b'])
      expect(await stores.deliveries.byId(id)).toMatchObject({
        attempts: [{ ...first, excerpt: null }, ...rest],
      })
    expect(await stores.deliveries.byId('c')).toMatchObject({ attempts: [attempt({ at: 2_000 })] })
    await stores.deliveries.purgeExcerpts(99_000)
    await stores.refresh()
    const later = await list()
    expect(later.flatMap(({ attempts }) => attempts.map(({ excerpt }) => excerpt))).toEqual(
      Array.from({ length: 7 }, () => null),
    )
  })

  it('removes the excerpt of an attempt that a save added', async () => {
    await create({ id: 'a' })
    const before = await stores.deliveries.byId('a')
    if (before === null) throw new Error('expected the delivery')
    await stores.deliveries.save([{ ...before, attempts: [attempt({ at: 1_000 })] }])
    await stores.refresh()
    await stores.deliveries.purgeExcerpts(2_000)
    await stores.refresh()
    const excerpts = (await stores.deliveries.byId('a'))?.attempts.map(({ excerpt }) => excerpt)
    expect(excerpts).toEqual([null])
  })

  it('changes any number of deliveries in one call', async () => {
    const all = Array.from({ length: MANY }, (_, n) =>
      delivery({ event: { orderId: `ord_${n}` }, attempts: [attempt()] }),
    )
    await stores.deliveries.create(all)
    const allIn = async (state: Delivery['state']) => {
      const counts = new Map<string, number>()
      for (const listed of await list())
        counts.set(listed.state, (counts.get(listed.state) ?? 0) + 1)
      expect(Object.fromEntries(counts)).toEqual({ [state]: MANY })
    }
    await allIn('pending')
    expect(await stores.deliveries.hold('we_1', 20_000)).toBe(MANY)
    await allIn('held')
    expect(await stores.deliveries.releaseHeld('we_1', 21_000)).toBe(MANY)
    await allIn('pending')
    await stores.deliveries.hold('we_1', 22_000)
    await stores.refresh()
    await stores.deliveries.expireHeld(23_000)
    await allIn('expired')
    const replay = { endpointId: 'we_1', sinceMs: 0, nowMs: 24_000, failedOnly: true }
    expect(await stores.deliveries.replay(replay)).toBe(MANY)
    await allIn('pending')
    await stores.deliveries.purgeExcerpts(99_000)
    const excerpts = (await list()).filter(({ attempts }) => attempts[0]?.excerpt !== null)
    expect(excerpts).toEqual([])
    await stores.deliveries.cancel('we_1')
    await allIn('canceled')
    await stores.deliveries.purge(99_000)
    expect(await list()).toEqual([])
  })
})
