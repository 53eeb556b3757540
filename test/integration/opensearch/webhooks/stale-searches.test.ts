import { describe, expect, it } from 'vitest'
import { MARKER_ID } from '../../../../src/stores/opensearch/client/search/linearizable-search.ts'
import { revisionOf } from '../../../../src/stores/opensearch/webhooks/delivery-document.ts'
import { createOpenSearchWebhookStores } from '../../../../src/stores/opensearch/webhooks/webhook-stores.ts'
import type { Delivery } from '../../../../src/webhooks/deliveries/delivery.ts'
import type { DeliveryStore, DueQuery } from '../../../../src/webhooks/deliveries/delivery-store.ts'
import { GENEROUS_MS } from '../../../support/stores/scripted/scripted-nodes.ts'
import { attempt, type DeliveryChanges, delivery } from '../../../support/webhooks/delivery.ts'
import { eventRecord } from '../../../support/webhooks/event-record.ts'
import { useOpenSearchWebhooks } from '../../../support/webhooks/stores/use-opensearch-webhooks.ts'

const test = useOpenSearchWebhooks()
const DELIVERIES = 'webhook-deliveries'
const REPLAY = { endpointId: 'we_1', sinceMs: 0, failedOnly: false, nowMs: 20_000 }
const PENDING = { term: { state: 'pending' } }

/** Creates deliveries that searches find; later writes stay invisible until a refresh. */
async function createVisible(...changes: DeliveryChanges[]): Promise<void> {
  await test.stores.deliveries.create(changes.map(delivery))
  await test.freezeSearches(DELIVERIES)
  await dueIds() // The process then needs no refresh for what it created.
}

async function read(id: string, { byId }: Pick<DeliveryStore, 'byId'> = test.stores.deliveries) {
  const found = await byId(id)
  if (found === null) throw new Error(`expected the delivery ${id}`)
  return found
}

/** Stores a success of a delivery, as the dispatcher does. */
async function deliver(id: string) {
  const attempts = [attempt({ status: 200, error: null })]
  const [saved] = await test.stores.deliveries.save([
    { ...(await read(id)), state: 'delivered', nextAt: null, attempts },
  ])
  if (!saved) throw new Error('expected the saved delivery')
  return saved
}

type Client = typeof test.stores.client

/** The stores of a process whose client has some methods replaced. */
function openIntercepted(replace: (client: Client) => object) {
  const { client } = test.stores
  return createOpenSearchWebhookStores({
    ...test.stores,
    client: Object.assign(Object.create(client) as Client, replace(client)),
    deadlineMs: GENEROUS_MS,
    leaseMs: GENEROUS_MS,
  })
}

async function dueIds(
  { due }: Pick<DeliveryStore, 'due'> = test.stores.deliveries,
  query: Partial<DueQuery> = {},
) {
  const all = { endpointId: 'we_1', nowMs: 99_000, limit: 100 }
  const found = await due({ ...all, excludedOrders: [], excludedIds: [], ...query })
  return found.map(({ id }) => id)
}

describe('a search for deliveries before the refresh', () => {
  it('a delivery with a stored success is never due again, in any process', async () => {
    await createVisible({ id: 'a' })
    await deliver('a')
    const { deliveries } = await test.stores.openAgain()
    expect(await test.search(DELIVERIES, PENDING)).toEqual(['a'])
    expect([await dueIds(), await dueIds(deliveries)]).toEqual([[], []])
    expect(await deliveries.nextDueAt('we_1')).toBeNull()
  })

  it('delivered hits do not count for the limit of what is due', async () => {
    const created = ['a', 'b', 'c', 'd'].map((id, n) => ({
      id,
      nextAt: 10_000 + n,
      event: { sequence: n + 1 },
    }))
    await createVisible(...created)
    for (const id of ['a', 'b', 'c']) await deliver(id)
    const { deliveries } = await test.stores.openAgain()
    expect(await dueIds(deliveries, { limit: 1 })).toEqual(['d'])
    expect(await deliveries.nextDueAt('we_1')).toBe(10_003)
  })

  it('a retry is due at its new instant only', async () => {
    await createVisible({ id: 'a' }, { id: 'b', nextAt: 30_000, event: { sequence: 2 } })
    await test.stores.deliveries.save([{ ...(await read('a')), nextAt: 50_000 }])
    const { deliveries } = await test.stores.openAgain()
    expect(await dueIds(deliveries, { nowMs: 40_000 })).toEqual(['b'])
    expect(await deliveries.nextDueAt('we_1')).toBe(30_000)
    await deliver('b')
    expect(await deliveries.nextDueAt('we_1')).toBe(50_000)
  })

  it('deliveries that changed are in the order of their new instants', async () => {
    await createVisible({ id: 'a' }, { id: 'b', event: { sequence: 2 }, nextAt: 11_000 })
    await test.stores.deliveries.save([{ ...(await read('a')), nextAt: 12_000 }])
    expect(await dueIds()).toEqual(['b', 'a'])
  })

  it('a process finds what it created itself', async () => {
    await test.freezeSearches(DELIVERIES)
    await test.stores.deliveries.create([delivery({ id: 'a' })])
    expect(await test.search(DELIVERIES, PENDING)).toEqual([])
    expect(await dueIds()).toEqual(['a'])
  })

  it('a process finds what another one created, once it reads what fails', async () => {
    await createVisible({ id: 'a' })
    const { deliveries } = await test.stores.openAgain()
    await deliveries.create([delivery({ id: 'b', event: { sequence: 2 } })])
    expect(await dueIds()).toEqual(['a'])
    await test.stores.deliveries.failingSince('we_1', 0, 9)
    expect(await dueIds()).toEqual(['a', 'b'])
  })

  it('a process finds a delivery that it made pending again', async () => {
    await createVisible({ id: 'a', state: 'delivered', nextAt: null })
    const before = await read('a')
    await test.stores.deliveries.save([{ ...before, state: 'pending', nextAt: 20_000 }])
    expect(await test.search(DELIVERIES, PENDING)).toEqual([])
    expect(await test.stores.deliveries.nextDueAt('we_1')).toBe(20_000)
  })

  it.each<[string, (deliveries: DeliveryStore) => Promise<unknown>, unknown]>([
    ['the backlog', ({ backlog }) => backlog(99_000), { due: 1, oldestDueAt: 40_000 }],
    ['the endpoints', ({ nextDueByEndpoint }) => nextDueByEndpoint(), new Map([['we_1', 40_000]])],
    [
      'what fails',
      async ({ failingSince }) => (await failingSince('we_1', 1, 9)).map(({ id }) => id),
      ['b'],
    ],
    [
      'the list',
      async ({ list }) =>
        (await list({ endpointId: 'we_1', states: ['delivered'], limit: 9 })).map(({ id }) => id),
      ['a'],
    ],
  ])('a process finds its saves in %s', async (_what, found, expected) => {
    await createVisible({ id: 'a' }, { id: 'b', event: { sequence: 2 } })
    await deliver('a')
    const failed = { ...(await read('b')), nextAt: 40_000, firstFailedAt: 20_000 }
    await test.stores.deliveries.save([failed])
    expect(await found(test.stores.deliveries)).toEqual(expected)
  })

  it('a list keeps its order while the deliveries of one bulk change', async () => {
    const orders = ['ord_2', 'ord_1', 'ord_3']
    await createVisible(...orders.map((orderId) => ({ id: orderId, event: { orderId } })))
    const list = async () => {
      const found = await test.stores.deliveries.list({ endpointId: 'we_1', limit: 9 })
      return found.map(({ id }) => id)
    }
    const before = await list()
    for (const id of ['ord_3', 'ord_1']) await deliver(id)
    expect([before, await list()]).toEqual(Array(2).fill(['ord_3', 'ord_2', 'ord_1']))
  })

  it('a search for what is due needs no refresh after saves', async () => {
    await createVisible({ id: 'a' }, { id: 'b', event: { sequence: 2 } })
    await deliver('a')
    expect(await dueIds()).toEqual(['b'])
    expect(await test.search(DELIVERIES, PENDING)).toEqual(['a', 'b'])
  })

  it('a transition includes what another process wrote a moment ago', async () => {
    await createVisible({ id: 'a', state: 'delivered', nextAt: null })
    const { deliveries } = await test.stores.openAgain()
    await test.stores.deliveries.create([delivery({ id: 'b' })])
    await test.stores.deliveries.save([{ ...(await read('a')), state: 'pending', nextAt: 1 }])
    expect(await deliveries.hold('we_1', 20_000)).toBe(2)
    expect(await test.search(DELIVERIES, { term: { state: 'held' } })).toEqual(['a', 'b'])
  })

  it('a transition does not undo a success that is stored after its search', async () => {
    await test.stores.deliveries.create([
      delivery({ id: 'a' }),
      delivery({ id: 'b', event: { sequence: 2 } }),
    ])
    const underWay = await read('a')
    const other = openIntercepted((client) => ({
      async bulk(...request: Parameters<Client['bulk']>) {
        await test.stores.deliveries.save([{ ...underWay, state: 'delivered', nextAt: null }])
        return client.bulk(...request)
      },
    }))
    expect(await other.deliveries.hold('we_1', 20_000)).toBe(1)
    expect(await read('a')).toMatchObject({ state: 'delivered' })
    expect(await read('b')).toMatchObject({ state: 'held' })
  })

  it('a transition leaves out what another process delivered a moment ago', async () => {
    await createVisible({ id: 'a' })
    await deliver('a')
    const { deliveries } = await test.stores.openAgain()
    expect(await deliveries.hold('we_1', 20_000)).toBe(0)
    expect(await read('a')).toMatchObject({ state: 'delivered' })
  })
})

describe('the events of an order, of which the first was written last', () => {
  const first = { id: 'first', event: { sequence: 1 } }
  const second = { id: 'second', event: { sequence: 2 } }

  it.each<[string, Partial<Delivery>, (deliveries: DeliveryStore) => Promise<number>, string[]]>([
    [
      'become pending in turn by a replay',
      { state: 'delivered', nextAt: null },
      (deliveries) => deliveries.replay(REPLAY),
      ['first', 'second'],
    ],
    [
      'become pending in turn by a release',
      { state: 'held', nextAt: null, heldAt: 15_000 },
      (deliveries) => deliveries.releaseHeld('we_1', 20_000),
      ['first', 'second'],
    ],
    [
      'are held last event first',
      {},
      (deliveries) => deliveries.hold('we_1', 20_000),
      ['second', 'first'],
    ],
  ])('%s', async (_what, state, change, expected) => {
    const { deliveries } = test.stores
    await deliveries.create([second, first].map((changes) => delivery({ ...state, ...changes })))
    expect(await change(deliveries)).toBe(2)
    const changed = await Promise.all(['first', 'second'].map((id) => read(id)))
    const written = changed.map((row) => [row.id, revisionOf(row).state.if_seq_no] as const)
    const inOrder = written.sort(([, one], [, other]) => one - other).map(([id]) => id)
    expect(inOrder).toEqual(expected)
  })
})

describe('the marker of a transition', () => {
  it.each<[string, number, (deliveries: DeliveryStore) => Promise<number>]>([
    ['later', 50_000, (deliveries) => deliveries.hold('we_1', 20_000)],
    ['earlier', 5_000, (deliveries) => deliveries.replay(REPLAY)],
  ])(
    'is found in each page beside a delivery whose event is %s',
    async (_when, recordedAt, change) => {
      const { deliveries } = test.stores
      const state = recordedAt > 20_000 ? {} : ({ state: 'delivered', nextAt: null } as const)
      const created = Array.from({ length: 1_500 }, (_, n) =>
        delivery({ ...state, id: `dlv_${n}`, event: { recordedAt: 10_000 + n } }),
      )
      await deliveries.create(created)
      await test.freezeSearches(DELIVERIES)
      await deliveries.create([delivery({ endpointId: 'we_2', event: { recordedAt } })])
      expect(await change(deliveries)).toBe(1_500)
    },
  )

  it('is written before the search: a delivery that changes in between is forgotten too', async () => {
    await test.stores.deliveries.create([delivery({ id: 'a' })])
    const underWay = await read('a')
    const other = openIntercepted((client) => ({
      async index(...request: Parameters<Client['index']>) {
        const response = await client.index(...request)
        await test.stores.deliveries.save([{ ...underWay, nextAt: 50_000, attempts: [attempt()] }])
        await test.stores.refresh()
        return response
      },
    }))
    const removal = { accountId: 'acc_1', orderId: 'ord_1', sequence: 2, recordedAt: 11_000 }
    await other.deliveries.forgetOrders([removal])
    expect(await read('a')).toMatchObject({ state: 'canceled', event: { change: {} } })
  })

  it('is no delivery', async () => {
    const { deliveries } = test.stores
    await deliveries.create(Array.from({ length: 1_001 }, (_, n) => delivery({ id: `dlv_${n}` })))
    expect(await deliveries.hold('we_1', 20_000)).toBe(1_001)
    expect(await test.search(DELIVERIES, { ids: { values: [MARKER_ID] } })).toEqual([MARKER_ID])
    expect(await deliveries.byId(MARKER_ID)).toBeNull()
  })
})

describe('a search for event records before the refresh', () => {
  const page = async (limit: number, { events } = test.stores) => {
    const { records = [] } = (await events.next(limit)) ?? {}
    return records.map(({ orderId, version }) => `${orderId}:${version}`)
  }

  it('records that are fanned out are not returned again, in any process', async () => {
    await test.stores.record(eventRecord('ord_1', 1), eventRecord('ord_2', 1))
    await test.freezeSearches('order-events')
    await (await test.stores.events.next(1))?.fanOut([])
    expect(await test.search('order-events', { term: { fanned_out: false } })).toHaveLength(2)
    const other = { ...test.stores, ...(await test.stores.openAgain()) }
    expect([await page(1), await page(1, other)]).toEqual([['ord_2:1'], ['ord_2:1']])
    await (await test.stores.events.next(1))?.fanOut([])
    expect(await test.stores.events.next(1)).toBeNull()
  })
})
