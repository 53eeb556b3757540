import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createMemoryCopy,
  createOrdersClient,
  type MemoryCopy,
  type SyncOptions,
  UsageError,
} from '../../../src/client/client.ts'
import { type FaultServer, startFaultServer } from '../../support/http/fault-server.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

const DATED = 7
/** The greatest `updated_at` that there is. */
const NEWEST = '2026-03-02T12:06:00.000Z'
const NEVER = Number.POSITIVE_INFINITY

let app: TestApp
let front: FaultServer
let store: MemoryCopy
let key: string

const order = (at: number, more: object = {}) =>
  sourceOrder({
    id: `ord_${at}`,
    created_at: '2026-03-01T12:00:00Z',
    changed_at: `2026-03-02T12:0${at}:00.000Z`,
    ...more,
  })

beforeAll(async () => {
  app = await createTestApp()
  key = (await app.issue()).key
  await app.load(Array.from({ length: DATED }, (_, at) => order(at)))
  await app.load([order(7, { changed_at: null }), order(8, { changed_at: null })])
  front = await startFaultServer(await app.app.listen({ port: 0, host: '127.0.0.1' }))
})
afterAll(async () => {
  await front.close()
  await app.close()
})
beforeEach(() => {
  front.forget()
  store = createMemoryCopy()
})

const sync = (options: Partial<SyncOptions> = {}, apiKey = key) =>
  createOrdersClient({ baseUrl: front.baseUrl, apiKey }).orders.sync({ store, ...options })

/** What the walks asked for: `updated_gte`, and whether it was a page further on. */
const listRequests = () =>
  front.asked.map(({ url }) => ({
    updatedGte: url.searchParams.get('updated_gte'),
    hasCursor: url.searchParams.has('cursor'),
  }))

async function savedState() {
  const state = await store.read()
  if (state === null) throw new Error('nothing was kept')
  return state
}

function firstOf({ orders }: MemoryCopy) {
  const [first] = orders.values()
  if (first === undefined) throw new Error('nothing was kept')
  return first
}

describe('the first sync', () => {
  it('walks everything without a filter, so that orders without updated_at come too', async () => {
    expect(await sync()).toEqual({ kind: 'all', received: 9, watermark: NEWEST, dropped: 0 })
    expect(listRequests()).toEqual([{ updatedGte: null, hasCursor: false }])
    expect(store.orders.get('ord_8')).toMatchObject({ updated_at: null })
  })

  it('walks from an instant on, where only that is wanted', async () => {
    const since = '2026-03-02T09:04:00-03:00'
    expect(await sync({ since })).toMatchObject({ received: 3 })
    expect(listRequests()).toEqual([{ updatedGte: '2026-03-02T12:04:00.000Z', hasCursor: false }])
  })

  it('refuses an instant that is none', async () => {
    await expect(sync({ since: 'ontem' })).rejects.toThrow(UsageError)
    expect(front.asked).toEqual([])
  })
})

describe('the next sync', () => {
  it('walks from the greatest updated_at seen, less the overlap', async () => {
    await sync()
    front.forget()
    const overlapMs = 120_000
    expect(await sync({ overlapMs })).toMatchObject({ kind: 'changes', received: 3 })
    expect(listRequests()).toEqual([{ updatedGte: '2026-03-02T12:04:00.000Z', hasCursor: false }])
  })

  it('goes on behind the last page that was kept, after a process that died', async () => {
    const died = new Error('died')
    const onPage = () => {
      if (store.orders.size === 4) throw died
    }
    await expect(sync({ limit: 2, onPage })).rejects.toBe(died)
    front.forget()
    expect(await sync({ limit: 2 })).toMatchObject({ kind: 'all', received: 5 })
    expect(listRequests()[0]).toEqual({ updatedGte: null, hasCursor: true })
    expect(store.orders.size).toBe(9)
  })

  it('begins its walk again where the cursor is not valid any more, and drops what went meanwhile', async () => {
    const died = new Error('died')
    const onPage = () => {
      throw died
    }
    await expect(sync({ limit: 2, onPage })).rejects.toBe(died)
    const state = await savedState()
    await store.save([{ ...firstOf(store), id: 'ord_gone' }], {
      ...state,
      pass: { ...state.pass, cursor: 'nada' },
    })
    front.forget()
    expect(await sync()).toMatchObject({ kind: 'all', received: 9, dropped: 1 })
    expect(listRequests().map(({ hasCursor }) => hasCursor)).toEqual([true, false])
  })

  it('knows the greatest updated_at also behind pages of orders without one', async () => {
    expect(await sync({ limit: 1 })).toMatchObject({ watermark: NEWEST })
  })

  it('walks everything again when it is time to, and drops what is gone', async () => {
    await sync()
    await store.save([{ ...firstOf(store), id: 'ord_gone' }], await savedState())

    expect(await sync({ walkAllEveryMs: NEVER })).toMatchObject({ kind: 'changes', dropped: 0 })
    expect(store.orders.has('ord_gone')).toBe(true)
    expect(await sync({ walkAllEveryMs: 0 })).toMatchObject({ kind: 'all', dropped: 1 })
    expect(store.orders.has('ord_gone')).toBe(false)
  })
})

describe('a sync is refused', () => {
  it('beside another one of the same copy', async () => {
    const first = sync()
    await expect(sync()).rejects.toThrow(/já está sendo sincronizada/)
    await first
    expect(await sync()).toMatchObject({ kind: 'changes' })
  })

  it.each([{ overlapMs: -1 }, { overlapMs: Number.NaN }, { walkAllEveryMs: -1 }])(
    'with %j',
    async (options) => {
      await expect(sync(options)).rejects.toThrow(UsageError)
      expect(front.asked).toEqual([])
    },
  )
})

describe('a copy is not mixed with another', () => {
  it('of another key, unless it is said to be of the same account', async () => {
    await sync()
    const other = (await app.issue()).key
    await expect(sync({}, other)).rejects.toThrow(/A chave não é a da última/)
    expect(await sync({ acceptNewKey: true }, other)).toMatchObject({ kind: 'changes' })
    expect(await sync({}, other)).toMatchObject({ kind: 'changes' })
  })

  it('of another address', async () => {
    await sync()
    const elsewhere = createOrdersClient({ baseUrl: `${front.baseUrl}/loja`, apiKey: key })
    await expect(elsewhere.orders.sync({ store: store })).rejects.toThrow(/outro destino/)
  })

  it('of a newer form', async () => {
    await sync()
    const newer = { ...(await store.read()), version: 2 } as never
    await expect(sync({ store: { ...store, read: async () => newer } })).rejects.toThrow(/atualize/)
  })

  it('and keeps no key', async () => {
    await sync()
    expect(JSON.stringify(await store.read())).not.toContain(key)
  })
})
