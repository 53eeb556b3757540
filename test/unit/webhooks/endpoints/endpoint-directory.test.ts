import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import type { Endpoint } from '../../../../src/webhooks/endpoints/endpoint.ts'
import {
  createEndpointDirectory,
  createSubscriberLookup,
  ENDPOINT_MAX_AGE_MS,
} from '../../../../src/webhooks/endpoints/endpoint-directory.ts'
import type { EndpointChanges } from '../../../../src/webhooks/endpoints/endpoint-store.ts'
import { endpoint } from '../../../support/webhooks/endpoint.ts'

/** A store whose changes a test scripts; the token counts those that a call has returned. */
function createChanges(...first: readonly Endpoint[]) {
  const log: Endpoint[] = [...first]
  const store = {
    /** The tokens of the calls so far. */
    tokens: [] as (string | null)[],
    failure: null as Unavailable | null,
    put: (...changed: readonly Endpoint[]) => void log.push(...changed),
    async changes(token: string | null): Promise<EndpointChanges> {
      store.tokens.push(token)
      const end = log.length
      await Promise.resolve()
      if (store.failure !== null) throw store.failure
      return { endpoints: log.slice(Number(token ?? 0), end), token: `${end}` }
    },
  }
  return store
}

/** Milliseconds that pass only when a test says so. */
function createTime() {
  const time = { now: 0, clock: () => time.now }
  return time
}

const ONE = endpoint({ id: 'we_1' })
const TWO = endpoint({ id: 'we_2', accountId: 'acc_2' })
const deleted = (one: Endpoint) => ({ ...one, deletedAt: 9_000 })

function open(...first: readonly Endpoint[]) {
  const store = createChanges(...first)
  const time = createTime()
  return { store, time, directory: createEndpointDirectory(store, time.clock) }
}

const content = (directory: ReturnType<typeof createEndpointDirectory>) =>
  [...directory.all()].map(({ id }) => id)

describe('the directory of endpoints', () => {
  it('the directory is empty before its first refresh', () => {
    const { directory } = open(ONE)
    expect(content(directory)).toEqual([])
    expect(directory.byId('we_1')).toBeUndefined()
    expect(directory.ofAccount('acc_1')).toEqual([])
  })

  it('the first refresh reads all endpoints, and later ones what changed', async () => {
    const { store, directory } = open(ONE, TWO)
    expect(await directory.refresh()).toEqual([ONE, TWO])
    store.put({ ...ONE, payload: 'thin' })
    expect(await directory.refresh()).toEqual([{ ...ONE, payload: 'thin' }])
    expect(await directory.refresh()).toEqual([])
    expect(store.tokens).toEqual([null, '2', '3'])
    expect(directory.byId('we_1')?.payload).toBe('thin')
    expect(content(directory)).toEqual(['we_1', 'we_2'])
  })

  it('an account has all of its endpoints and no other', async () => {
    const { directory } = open(ONE, TWO, endpoint({ id: 'we_3' }))
    await directory.refresh()
    expect(directory.ofAccount('acc_1').map(({ id }) => id)).toEqual(['we_1', 'we_3'])
    expect(directory.ofAccount('acc_2')).toEqual([TWO])
    expect([...directory.accounts()]).toEqual(['acc_1', 'acc_2'])
  })

  it('a deleted endpoint is returned once and removed, its account with the last one', async () => {
    const other = endpoint({ id: 'we_3' })
    const { store, directory } = open(ONE, other)
    await directory.refresh()
    store.put(deleted(ONE))
    expect(await directory.refresh()).toEqual([deleted(ONE)])
    expect(directory.byId('we_1')).toBeUndefined()
    expect(directory.ofAccount('acc_1')).toEqual([other])
    expect([...directory.accounts()]).toEqual(['acc_1'])
    store.put(deleted(other))
    await directory.refresh()
    expect([...directory.accounts()]).toEqual([])
    expect(content(directory)).toEqual([])
  })

  it('an endpoint that was deleted before the first refresh subscribes no account', async () => {
    const { directory } = open(deleted(ONE))
    await directory.refresh()
    expect([...directory.accounts()]).toEqual([])
  })

  it('a refresh within the maximum age reads nothing, and counts from the start of the last read', async () => {
    const { store, time, directory } = open(ONE)
    await directory.refresh(1_000)
    time.now = 999
    store.put(TWO)
    expect(await directory.refresh(1_000)).toEqual([])
    time.now = 1_000
    expect(await directory.refresh(1_000)).toEqual([TWO])
    expect(store.tokens).toHaveLength(2)
  })

  it('concurrent refreshes read once, and only the first returns the changes', async () => {
    const { store, directory } = open(ONE)
    const results = await Promise.all([1, 2, 3].map(() => directory.refresh(1_000)))
    expect(results).toEqual([[ONE], [], []])
    expect(store.tokens).toEqual([null])
  })

  it('a failed refresh keeps the content, and the next one reads the same changes', async () => {
    const { store, directory } = open(ONE)
    await directory.refresh()
    store.put(TWO)
    store.failure = new Unavailable('no response')
    await expect(directory.refresh(1_000_000)).resolves.toEqual([])
    await expect(directory.refresh()).rejects.toThrow(Unavailable)
    expect(content(directory)).toEqual(['we_1'])
    store.failure = null
    expect(await directory.refresh()).toEqual([TWO])
    expect(store.tokens).toEqual([null, '1', '1'])
  })
})

describe('the lookup of subscribers', () => {
  function openLookup(...first: readonly Endpoint[]) {
    const store = createChanges(...first)
    const time = createTime()
    return { store, time, subscribers: createSubscriberLookup(store, time.clock) }
  }

  it('the lookup reads changes again after five seconds', async () => {
    const { store, time, subscribers } = openLookup(ONE)
    expect([...(await subscribers())]).toEqual(['acc_1'])
    store.put(TWO)
    time.now = ENDPOINT_MAX_AGE_MS - 1
    expect([...(await subscribers())]).toEqual(['acc_1'])
    time.now = ENDPOINT_MAX_AGE_MS
    expect([...(await subscribers())]).toEqual(['acc_1', 'acc_2'])
    expect(ENDPOINT_MAX_AGE_MS).toBe(5_000)
  })

  it('concurrent lookups read once, and all return the accounts', async () => {
    const { store, subscribers } = openLookup(ONE, TWO)
    const found = await Promise.all([subscribers(), subscribers(), subscribers()])
    expect(found.map((accounts) => [...accounts])).toEqual([1, 2, 3].map(() => ['acc_1', 'acc_2']))
    expect(store.tokens).toEqual([null])
  })

  it('a returned set stays the same while the accounts change', async () => {
    const { store, time, subscribers } = openLookup(ONE)
    const before = await subscribers()
    store.put(TWO, deleted(ONE))
    time.now = ENDPOINT_MAX_AGE_MS
    expect([...(await subscribers())]).toEqual(['acc_2'])
    expect([...before]).toEqual(['acc_1'])
  })

  it('a lookup fails while the store is unavailable, and never returns old accounts', async () => {
    const { store, time, subscribers } = openLookup(ONE)
    await subscribers()
    store.failure = new Unavailable('no response')
    time.now = ENDPOINT_MAX_AGE_MS
    await expect(subscribers()).rejects.toThrow(Unavailable)
    store.failure = null
    expect([...(await subscribers())]).toEqual(['acc_1'])
  })
})
