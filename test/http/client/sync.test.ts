import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createMemoryStore,
  createOrdersClient,
  type MemoryStore,
  type SyncOptions,
  UsageError,
} from '../../../src/client/client.ts'
import { type FaultServer, startFaultServer } from '../../support/http/fault-server.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

const DATED = 7
/** The greatest `updated_at` of all orders. */
const NEWEST = '2026-03-02T12:06:00.000Z'
const NEVER = Number.POSITIVE_INFINITY

let app: TestApp
let faultServer: FaultServer
let store: MemoryStore
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
  faultServer = await startFaultServer(await app.app.listen({ port: 0, host: '127.0.0.1' }))
})
afterAll(async () => {
  await faultServer.close()
  await app.close()
})
beforeEach(() => {
  faultServer.forget()
  store = createMemoryStore()
})

const sync = (options: Partial<SyncOptions> = {}, apiKey = key) =>
  createOrdersClient({ baseUrl: faultServer.baseUrl, apiKey }).orders.sync({ store, ...options })

/** The requests of the runs: `updated_gte`, and whether a cursor was sent. */
const listRequests = () =>
  faultServer.requests
    .filter(({ url }) => url.pathname === '/v1/orders')
    .map(({ url }) => ({
      updatedGte: url.searchParams.get('updated_gte'),
      hasCursor: url.searchParams.has('cursor'),
    }))
const accountRequests = () =>
  faultServer.requests.filter(({ url }) => url.pathname === '/v1/account').length

async function savedState() {
  const state = await store.read()
  if (state === null) throw new Error('no state was saved')
  return state
}

function firstOf({ orders }: MemoryStore) {
  const [first] = orders.values()
  if (first === undefined) throw new Error('no state was saved')
  return first
}

describe('the first sync', () => {
  it('reads everything without a filter, including orders without updated_at', async () => {
    expect(await sync()).toEqual({ kind: 'all', received: 9, watermark: NEWEST, dropped: 0 })
    expect(listRequests()).toEqual([{ updatedGte: null, hasCursor: false }])
    expect(store.orders.get('ord_8')).toMatchObject({ updated_at: null })
  })

  it('reads from `since` on if it is given', async () => {
    const since = '2026-03-02T09:04:00-03:00'
    expect(await sync({ since })).toMatchObject({ received: 3 })
    expect(listRequests()).toEqual([{ updatedGte: '2026-03-02T12:04:00.000Z', hasCursor: false }])
  })

  it.each([
    'ontem',
    '5',
    '12/05/2026',
    '2026-03-02',
    '2026-03-02T12:04:00',
    '2026-02-30T00:00:00Z',
    new Date(Number.NaN),
  ])('rejects the `since` %s, as the API does', async (since) => {
    await expect(sync({ since })).rejects.toThrow(UsageError)
    expect(faultServer.requests).toEqual([])
    expect(await store.read()).toBeNull()
  })

  it.each(['9999-12-31T23:59:59-03:00', '0000-01-01T00:00:00+03:00', new Date(8.64e15)])(
    'rejects the `since` %s, which has no text of the API in UTC',
    async (since) => {
      await expect(sync({ since })).rejects.toThrow('anos 0000 a 9999 em UTC')
      expect(await store.read()).toBeNull()
    },
  )

  it.each([
    '2026-03-02T09:04-0300',
    '2026-03-02T12:03:59.9999Z',
    new Date('2026-03-02T12:04:00.000Z'),
  ])('reads from the `since` %s at the millisecond that the API uses', async (since) => {
    await sync({ since })
    expect(listRequests()).toEqual([{ updatedGte: '2026-03-02T12:04:00.000Z', hasCursor: false }])
  })
})

describe('the next sync', () => {
  it('reads from the watermark minus the overlap', async () => {
    await sync()
    faultServer.forget()
    const overlapMs = 120_000
    expect(await sync({ overlapMs })).toMatchObject({ kind: 'changes', received: 3 })
    expect(listRequests()).toEqual([{ updatedGte: '2026-03-02T12:04:00.000Z', hasCursor: false }])
  })

  it('continues after the last saved page when the process crashed', async () => {
    const died = new Error('died')
    const onPage = () => {
      if (store.orders.size === 4) throw died
    }
    await expect(sync({ limit: 2, onPage })).rejects.toBe(died)
    faultServer.forget()
    expect(await sync({ limit: 2 })).toMatchObject({ kind: 'all', received: 5 })
    expect(listRequests()[0]).toEqual({ updatedGte: null, hasCursor: true })
    expect(store.orders.size).toBe(9)
  })

  it('restarts the run when the API rejects the cursor, and deletes orders that are gone', async () => {
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
    faultServer.forget()
    expect(await sync()).toMatchObject({ kind: 'all', received: 9, dropped: 1 })
    expect(listRequests().map(({ hasCursor }) => hasCursor)).toEqual([true, false])
  })

  it('keeps the watermark over pages of orders without updated_at', async () => {
    expect(await sync({ limit: 1 })).toMatchObject({ watermark: NEWEST })
  })

  it('makes a full sync when one is due, and deletes orders that are gone', async () => {
    await sync()
    await store.save([{ ...firstOf(store), id: 'ord_gone' }], await savedState())

    expect(await sync({ fullSyncIntervalMs: NEVER })).toMatchObject({ kind: 'changes', dropped: 0 })
    expect(store.orders.has('ord_gone')).toBe(true)
    expect(await sync({ fullSyncIntervalMs: 0 })).toMatchObject({ kind: 'all', dropped: 1 })
    expect(store.orders.has('ord_gone')).toBe(false)
  })
})

describe('a watermark in the future, because the clock of the service was wrong', () => {
  const FUTURE = '2030-01-01T00:00:00.000Z'

  it('hides changes until the next full sync, and none after it', async () => {
    await sync()
    await store.save([], { ...(await savedState()), watermark: FUTURE })
    expect(await sync()).toMatchObject({ kind: 'changes', received: 0, watermark: FUTURE })
    const healed = { kind: 'all', watermark: NEWEST }
    expect(await sync({ fullSyncIntervalMs: 0 })).toMatchObject(healed)
    expect(await sync({ overlapMs: 60_000 })).toMatchObject({ kind: 'changes', received: 2 })
  })

  it('is dropped by a full sync that the API makes restart', async () => {
    const died = new Error('died')
    const onPage = () => {
      throw died
    }
    await expect(sync({ limit: 2, onPage })).rejects.toBe(died)
    const state = await savedState()
    const pass = { ...state.pass, cursor: 'nada' }
    await store.save([], { ...state, watermark: FUTURE, pass })
    expect(await sync()).toMatchObject({ kind: 'all', watermark: NEWEST })
  })
})

describe('a rejected sync', () => {
  it('a sync is rejected while another sync of the same store is running', async () => {
    const first = sync()
    await expect(sync()).rejects.toThrow(/já está sendo sincronizada/)
    await first
    expect(await sync()).toMatchObject({ kind: 'changes' })
  })

  it.each([{ overlapMs: -1 }, { overlapMs: Number.NaN }, { fullSyncIntervalMs: -1 }])(
    'a sync is rejected with %j',
    async (options) => {
      await expect(sync(options)).rejects.toThrow(UsageError)
      expect(faultServer.requests).toEqual([])
    },
  )
})

describe('a store', () => {
  it('rejects another key unless acceptNewKey is set', async () => {
    await sync()
    const other = (await app.issue()).key
    await expect(sync({}, other)).rejects.toThrow(/A chave não é a da última/)
    expect(await sync({ acceptNewKey: true }, other)).toMatchObject({ kind: 'all' })
    expect(await sync({}, other)).toMatchObject({ kind: 'changes' })
  })

  it('rejects a confirmed key of another account, and stays unchanged', async () => {
    await sync()
    const before = structuredClone(await store.read())
    const other = (await app.issue({ accountId: 'acc_other' })).key
    await expect(sync({ acceptNewKey: true }, other)).rejects.toThrow(
      /da conta acc_1, e a chave é da conta acc_other/,
    )
    expect(await store.read()).toEqual(before)
    expect(store.orders.size).toBe(9)
  })

  it('rejects a confirmed key of the sandbox of its account', async () => {
    await sync()
    const other = (await app.issue({ isTest: true })).key
    await expect(sync({ acceptNewKey: true }, other)).rejects.toThrow(
      /a chave lê os pedidos do sandbox/,
    )
  })

  it('requests the account once per key, also for a state of an earlier client', async () => {
    await sync()
    await sync()
    expect(accountRequests()).toBe(1)
    const { account, ...earlier } = await savedState()
    await store.save([], earlier)
    await sync()
    await sync()
    expect(accountRequests()).toBe(2)
    expect(await savedState()).toMatchObject({ account })
  })

  it('reads all orders again with a new key, also those of an unfinished full sync', async () => {
    const died = new Error('died')
    const onPage = () => {
      throw died
    }
    await expect(sync({ limit: 2, onPage })).rejects.toBe(died)
    faultServer.forget()
    const other = (await app.issue()).key
    expect(await sync({ acceptNewKey: true }, other)).toMatchObject({ kind: 'all', received: 9 })
    expect(listRequests()[0]).toEqual({ updatedGte: null, hasCursor: false })
  })

  it('works with a service that has no account endpoint', async () => {
    faultServer.plan({ status: 404, body: '' })
    expect(await sync()).toMatchObject({ kind: 'all', received: 9 })
    expect(await savedState()).not.toHaveProperty('account')
  })

  it.each([403, 404, 405])(
    'works with a gateway that responds to the account with %i, with one request per sync',
    async (status) => {
      const client = createOrdersClient({ baseUrl: faultServer.baseUrl, apiKey: key })
      const html = { status, body: '<h1>No</h1>', headers: { 'request-id': 'gw' } }
      faultServer.plan(html)
      expect(await client.orders.sync({ store })).toMatchObject({ received: 9 })
      faultServer.forget()
      faultServer.plan(html)
      expect(await client.orders.sync({ store })).toMatchObject({ kind: 'changes' })
      expect(accountRequests()).toBe(1)
    },
  )

  it('needs the account for a new key, unless the service is too old to have it', async () => {
    await sync()
    const other = (await app.issue()).key
    faultServer.plan({ status: 403 })
    await expect(sync({ acceptNewKey: true }, other)).rejects.toThrow(/firewall/)
  })

  it('rejects another API address', async () => {
    await sync()
    const elsewhere = createOrdersClient({ baseUrl: `${faultServer.baseUrl}/loja`, apiKey: key })
    await expect(elsewhere.orders.sync({ store })).rejects.toThrow(/outro destino/)
  })

  it('rejects a state of a newer client', async () => {
    await sync()
    const newer = { ...(await store.read()), version: 2 } as never
    await expect(sync({ store: { ...store, read: async () => newer } })).rejects.toThrow(/atualize/)
  })

  it('a store never contains the key', async () => {
    await sync()
    expect(JSON.stringify(await store.read())).not.toContain(key)
  })
})
