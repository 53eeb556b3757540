import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createMemoryStore,
  createOrdersClient,
  MassRemovalError,
  type Order,
  type OrderEvent,
  type SyncOptions,
  type SyncStore,
} from '../../../src/client/client.ts'
import { openDestination } from '../../../src/orders-cli/destinations/destination.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { apiOrder } from '../../support/orders-cli/api-order.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'

/** How many orders each account still has in the API. */
const COUNTS = [0, 9, 10, 11] as const

let app: TestApp
let baseUrl: string
const keys = new Map<number, string>()
beforeAll(async () => {
  app = await createTestApp()
  for (const count of COUNTS) {
    const owner_account_id = `acc_${count}`
    keys.set(count, (await app.issue({ accountId: owner_account_id })).key)
    await app.load(
      Array.from({ length: count }, (_, at) =>
        sourceOrder({ id: `ord_${count}x${at}`, owner_account_id }),
      ),
    )
  }
  baseUrl = await app.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app.close())

let folder: string
beforeEach(() => {
  folder = createTestFolder()
})

interface Opened {
  store: SyncStore
  close?(): Promise<void>
}

async function openLocal(destination: string): Promise<Opened> {
  const store = await openDestination(destination, { cwd: folder })
  return { store, close: () => store.close() }
}

/** A store that does not implement the optional `countUnseen`. */
function createUncountedStore(): SyncStore {
  const { read, save, deleteUnseen } = createMemoryStore()
  return { read, save, deleteUnseen }
}

const stores: [name: string, open: () => Promise<Opened>][] = [
  ['in memory', async () => ({ store: createMemoryStore() })],
  ['in a folder', () => openLocal(join(folder, 'copia'))],
  ['in a database', () => openLocal(`sqlite:${join(folder, 'copia.db')}`)],
  ['without countUnseen', async () => ({ store: createUncountedStore() })],
]

describe.each(stores)('a store %s', (_name, open) => {
  /**
   * A store of an account with `there` orders in the API, and `gone` more at the last full sync.
   */
  async function withStore(
    remaining: number,
    deleted: number,
    run: (sync: (options?: Partial<SyncOptions>) => Promise<number>) => Promise<void>,
  ) {
    const { store, close = async () => {} } = await open()
    const client = createOrdersClient({ baseUrl, apiKey: keys.get(remaining) ?? '' })
    const sync = async (options: Partial<SyncOptions> = {}) =>
      (await client.orders.sync({ store, fullSyncIntervalMs: 0, ...options })).dropped
    try {
      await sync()
      const state = await store.read()
      if (state === null) throw new Error('no state was saved')
      const more = Array.from({ length: deleted }, (_, at) => apiOrder({ id: `ord_gone${at}` }))
      await store.save(more as Order[], { ...state, walkedOrders: remaining + deleted })
      await run(sync)
    } finally {
      await close()
    }
  }

  it.each([
    ['all of 20 orders', 0, 20],
    ['more than half of 20 orders', 9, 11],
    ['exactly half of 22 orders', 11, 11],
  ])('deletes %s without an error', (_what, there, gone) =>
    withStore(there, gone, async (sync) => expect(await sync()).toBe(gone)),
  )

  it.each([
    ['all of 21 orders', 0, 21],
    ['11 of 21 orders', 10, 11],
    ['12 of 23 orders', 11, 12],
  ])('keeps %s, also on the next sync', (_what, there, gone) =>
    withStore(there, gone, async (sync) => {
      const expected = { unseen: gone, total: there + gone }
      const error = await sync().catch((error: unknown) => error)
      expect(error).toBeInstanceOf(MassRemovalError)
      expect(error).toMatchObject(expected)
      expect(`${error}`).toContain('allowMassRemoval')
      await expect(sync()).rejects.toMatchObject(expected)
      // All of them are still in the store.
      expect(await sync({ allowMassRemoval: true })).toBe(gone)
      expect(await sync()).toBe(0)
    }),
  )
})

describe('a store whose orders reappear', () => {
  it('a store whose orders reappear is complete after the next sync without allowMassRemoval', async () => {
    const store = createMemoryStore()
    const listing = (isLost: boolean) => {
      const apiKey = keys.get(11) ?? ''
      const empty = { object: 'list', data: [], has_more: false, next_cursor: null }
      const fetch = isLost ? async () => Response.json(empty) : globalThis.fetch
      return createOrdersClient({ baseUrl, apiKey, fetch }).orders
    }
    await listing(false).sync({ store })
    const state = await store.read()
    if (state === null) throw new Error('no state was saved')
    const [first] = store.orders.values()
    const more = Array.from({ length: 10 }, (_, at) => apiOrder({ ...first, id: `ord_more${at}` }))
    await store.save(more, { ...state, walkedAt: null })
    await expect(listing(true).sync({ store })).rejects.toThrow(MassRemovalError)
    expect(store.orders.size).toBe(21)
    expect(await listing(false).sync({ store })).toMatchObject({ kind: 'all', dropped: 10 })
  })
})

describe('a removal during the end of a full sync', () => {
  const removal: OrderEvent = {
    id: 'evt_1',
    type: 'order.removed',
    timestamp: '2026-03-01T12:00:00.000Z',
    account_id: 'acc_9',
    order_id: 'ord_gone',
    sequence: 1,
    change: {},
  }

  it('waits until the store has deleted what the sync did not see', async () => {
    const store = createMemoryStore()
    const client = createOrdersClient({ baseUrl, apiKey: keys.get(9) ?? '' })
    const steps: string[] = []
    let removing: Promise<unknown> | undefined
    await client.orders.sync({
      store: {
        ...store,
        async deleteUnseen() {
          removing = client.orders.applyRemoval(removal, { store: this })
          await setTimeout(50)
          steps.push('unseen deleted')
          return 0
        },
        async remove() {
          steps.push('removed')
        },
      },
    })
    await removing
    expect(steps).toEqual(['unseen deleted', 'removed'])
  })
})

describe('a store without deleteUnseen', () => {
  it('keeps everything without an error', async () => {
    const { read, save } = createMemoryStore()
    const { orders } = createOrdersClient({ baseUrl, apiKey: keys.get(0) ?? '' })
    await orders.sync({ store: { read, save } })
    const state = await read()
    if (state === null) throw new Error('no state was saved')
    await save([], { ...state, walkedOrders: 100 })
    expect(await orders.sync({ store: { read, save }, fullSyncIntervalMs: 0 })).toMatchObject({
      dropped: 0,
    })
  })
})
