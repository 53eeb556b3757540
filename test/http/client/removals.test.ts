import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createMemoryStore,
  createOrdersClient,
  type MemoryStore,
  type OrderEvent,
  type OrdersClient,
  type SyncOptions,
  type SyncStore,
  UsageError,
} from '../../../src/client/client.ts'
import { type FaultServer, startFaultServer } from '../../support/http/fault-server.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

const ORDER = 'ord_1'
const FULL = { fullSyncIntervalMs: 0 }

let app: TestApp
let faultServer: FaultServer
let key: string
let orders: OrdersClient['orders']
let store: MemoryStore
let version = 1

beforeAll(async () => {
  app = await createTestApp()
  faultServer = await startFaultServer(await app.app.listen({ port: 0, host: '127.0.0.1' }))
  key = (await app.issue()).key
  orders = createOrdersClient({ baseUrl: faultServer.baseUrl, apiKey: key }).orders
  await app.load(['ord_0', ORDER, 'ord_2'].map((id) => sourceOrder({ id })))
})
afterAll(async () => {
  await faultServer.close()
  await app.close()
})
beforeEach(async () => {
  faultServer.forget()
  store = createMemoryStore()
  await restore()
})

const restore = () => app.load([sourceOrder({ id: ORDER, version: ++version })], { mode: 'live' })
async function erase() {
  const { id, owner_account_id } = sourceOrder({ id: ORDER })
  const erased = { id, owner_account_id, version: ++version, deleted: true } as const
  await app.load([erased], { mode: 'live' })
}

const removal = (more: Partial<OrderEvent> = {}): OrderEvent => ({
  id: 'evt_1',
  type: 'order.removed',
  timestamp: '2026-03-01T12:00:00.000Z',
  account_id: 'acc_1',
  order_id: ORDER,
  sequence: 2,
  change: {},
  ...more,
})
const sync = (options: Partial<SyncOptions> = {}) => orders.sync({ store, ...options })
const apply = (event = removal()) => orders.applyRemoval(event, { store })
const ids = () => [...store.orders.keys()].toSorted((one, other) => one.localeCompare(other))

describe('a removal', () => {
  it('a removal deletes the order at once, without a full sync', async () => {
    await sync()
    await erase()
    expect(await apply()).toBe('removed')
    expect(ids()).toEqual(['ord_0', 'ord_2'])
    expect(await apply(), 'delivered again').toBe('removed')
  })

  it('a removal that arrives after the order came back keeps it', async () => {
    await sync()
    await erase()
    await restore()
    expect(await apply()).toBe('kept')
    expect(ids()).toContain(ORDER)
  })

  it('an order that comes back after its removal is saved again', async () => {
    await sync()
    await erase()
    await apply()
    await restore()
    await sync()
    expect(store.orders.get(ORDER)).toEqual(await orders.get(ORDER))
  })

  it('a removal is not undone by a page that was requested before it', async () => {
    await sync()
    const stale = JSON.stringify({
      object: 'list',
      data: [...store.orders.values()],
      has_more: false,
      next_cursor: null,
    })
    await erase()
    await apply()
    faultServer.plan((response) => ({ ...response, body: stale }))
    await sync(FULL)
    expect(ids()).toEqual(['ord_0', 'ord_2'])
  })

  it('a removal that arrives while its page is saved waits, and deletes the order', async () => {
    const saving = Promise.withResolvers<void>()
    const saved = Promise.withResolvers<void>()
    const { save } = store
    store.save = async (page, state) => {
      saving.resolve()
      await saved.promise
      await save(page, state)
    }
    const synced = sync()
    await saving.promise
    await erase()
    const applied = apply()
    saved.resolve()
    expect([await applied, (await synced).received]).toEqual(['removed', 3])
    expect(ids()).toEqual(['ord_0', 'ord_2'])
  })

  it('a removal fails when the API does not respond, so that the event is delivered again', async () => {
    await sync()
    await erase()
    faultServer.plan({ status: 403, body: '{"error":{"code":"forbidden","message":"Não."}}' })
    await expect(apply()).rejects.toThrow('Não.')
    expect(ids()).toContain(ORDER)
  })
})

describe('the signal of a call that waits for a removal of the same store', () => {
  /** A client that reports when it has a response, which then needs no further I/O. */
  function createReportingClient() {
    const { promise: received, resolve } = Promise.withResolvers<void>()
    const client = createOrdersClient({
      baseUrl: faultServer.baseUrl,
      apiKey: key,
      async fetch(url, init) {
        const response = await fetch(url, init)
        const text = await response.text()
        resolve()
        return Object.assign(response, { text: async () => text })
      },
    })
    return { ...client.orders, received }
  }
  type Client = ReturnType<typeof createReportingClient>
  type Options = SyncOptions & { signal: AbortSignal }

  it.each<[string, 'done' | 'listed', (client: Client, options: Options) => Promise<unknown>]>([
    ['a removal', 'done', (client, options) => client.applyRemoval(removal(), options)],
    ['the end of a run', 'listed', (client, options) => client.sync(options)],
    ['the page of a run', 'done', (client, options) => client.sync(options)],
  ])('ends %s, which changes nothing', async (what, reached, call) => {
    await sync()
    const saved = await store.read()
    if (saved === null) throw new Error('no state was saved')
    await store.save([], { ...saved, pass: { ...saved.pass, reached } })
    const before = await store.read()
    await erase()
    const removing = Promise.withResolvers<void>()
    const allowed = Promise.withResolvers<void>()
    const { remove } = store
    store.remove = async (id) => {
      removing.resolve()
      await allowed.promise
      await remove(id)
    }
    const applied = apply()
    await removing.promise
    const client = createReportingClient()
    const control = new AbortController()
    const { signal } = control
    const failure = call(client, { store, signal }).catch((error: unknown) => error)
    if (what === 'the page of a run') await client.received
    await setImmediate()
    control.abort('enough')
    const first = await Promise.race([failure, setImmediate('still waiting')])
    allowed.resolve()
    expect({ first, applied: await applied }).toEqual({ first: 'enough', applied: 'removed' })
    await setImmediate()
    expect(await store.read()).toEqual(before)
  })
})

describe('an event that removes nothing', () => {
  it.each([removal({ type: 'order.paid' }), removal({ type: 'order.invented' })])(
    'is ignored without a request: $type',
    async (event) => {
      await sync()
      faultServer.forget()
      expect(await apply(event)).toBe('ignored')
      expect(faultServer.requests).toEqual([])
      expect(ids()).toContain(ORDER)
    },
  )

  it('a store without remove rejects a removal', async () => {
    const { remove: _, ...rest } = store
    const plain: SyncStore = rest
    await expect(orders.applyRemoval(removal(), { store: plain })).rejects.toThrow(UsageError)
  })
})
