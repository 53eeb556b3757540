import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createMemoryCopy,
  createOrdersClient,
  MassRemovalError,
  type Order,
  type OrderCopy,
  type SyncOptions,
} from '../../../src/client/client.ts'
import { openCopy } from '../../../src/orders-command/copies/destination.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { apiOrder } from '../../support/orders-cli/orders-order.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'

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
let remove: () => void
beforeEach(() => {
  ;({ folder, remove } = temporaryFolder())
})
afterEach(() => remove())

interface Opened {
  store: OrderCopy
  close?(): Promise<void>
}

async function openLocal(destination: string): Promise<Opened> {
  const store = await openCopy(destination)
  return { store, close: () => store.close() }
}

/** What somebody wrote for the first version of the client. */
function createMinimalStore(): OrderCopy {
  const { read, save, dropUnseen } = createMemoryCopy()
  return { read, save, dropUnseen }
}

const stores: [name: string, open: () => Promise<Opened>][] = [
  ['in memory', async () => ({ store: createMemoryCopy() })],
  ['in a folder', () => openLocal(join(folder, 'copia'))],
  ['in a database', () => openLocal(`sqlite:${join(folder, 'copia.db')}`)],
  ['in a store of its own that cannot count', async () => ({ store: createMinimalStore() })],
]

describe.each(stores)('a copy %s', (_name, open) => {
  /** A copy of an account that has `there` orders, and had `gone` more at the last walk over everything. */
  async function withSyncedStore(
    remaining: number,
    deleted: number,
    run: (sync: (options?: Partial<SyncOptions>) => Promise<number>) => Promise<void>,
  ) {
    const { store, close = async () => {} } = await open()
    const client = createOrdersClient({ baseUrl, apiKey: keys.get(remaining) ?? '' })
    const sync = async (options: Partial<SyncOptions> = {}) =>
      (await client.orders.sync({ store, walkAllEveryMs: 0, ...options })).dropped
    try {
      await sync()
      const state = await store.read()
      if (state === null) throw new Error('nothing was kept')
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
  ])('loses %s without a word', (_what, there, gone) =>
    withSyncedStore(there, gone, async (sync) => expect(await sync()).toBe(gone)),
  )

  it.each([
    ['all of 21 orders', 0, 21],
    ['11 of 21 orders', 10, 11],
    ['12 of 23 orders', 11, 12],
  ])('does not lose %s, also when asked again', (_what, there, gone) =>
    withSyncedStore(there, gone, async (sync) => {
      const expected = { unseen: gone, total: there + gone }
      const error = await sync().catch((error: unknown) => error)
      expect(error).toBeInstanceOf(MassRemovalError)
      expect(error).toMatchObject(expected)
      expect(`${error}`).toContain('allowMassRemoval')
      await expect(sync()).rejects.toMatchObject(expected)
      // All of them are still there to be dropped.
      expect(await sync({ allowMassRemoval: true })).toBe(gone)
      expect(await sync()).toBe(0)
    }),
  )
})

describe('a copy whose orders are back', () => {
  it('is whole after the next sync, with nothing allowed', async () => {
    const store = createMemoryCopy()
    const listing = (isLost: boolean) => {
      const apiKey = keys.get(11) ?? ''
      const empty = { object: 'list', data: [], has_more: false, next_cursor: null }
      const fetch = isLost ? async () => Response.json(empty) : globalThis.fetch
      return createOrdersClient({ baseUrl, apiKey, fetch }).orders
    }
    await listing(false).sync({ store })
    const state = await store.read()
    if (state === null) throw new Error('nothing was kept')
    const [first] = store.orders.values()
    const more = Array.from({ length: 10 }, (_, at) => apiOrder({ ...first, id: `ord_more${at}` }))
    await store.save(more, { ...state, walkedAt: null })
    await expect(listing(true).sync({ store })).rejects.toThrow(MassRemovalError)
    expect(store.orders.size).toBe(21)
    expect(await listing(false).sync({ store })).toMatchObject({ kind: 'all', dropped: 10 })
  })
})

describe('a store that drops nothing', () => {
  it('keeps everything, and that is no error', async () => {
    const { read, save } = createMemoryCopy()
    const { orders } = createOrdersClient({ baseUrl, apiKey: keys.get(0) ?? '' })
    await orders.sync({ store: { read, save } })
    const state = await read()
    if (state === null) throw new Error('nothing was kept')
    await save([], { ...state, walkedOrders: 100 })
    expect(await orders.sync({ store: { read, save }, walkAllEveryMs: 0 })).toMatchObject({
      dropped: 0,
    })
  })
})
