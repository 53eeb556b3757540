import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type {
  IdempotencyStore,
  IdempotentRequest,
  KeptSince,
  RequestClaim,
} from '../../../src/management/idempotency/idempotency-store.ts'
import {
  type ManagementStoresUnderTest,
  useManagementStores,
} from './management-stores-under-test.ts'

const request = (changes: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  id: 'id_1',
  bodyDigest: 'digest_1',
  createdAt: 10_000,
  response: null,
  ...changes,
})

const claim = (createdAt: readonly number[] = [10_000], id = 'id_1'): RequestClaim => ({
  id,
  createdAt,
})

const since = (instant: number): KeptSince => ({ completed: instant, inProgress: instant })

const SINCE = since(5_000)
const RESPONSE = { status: 201, body: '{"object":"api_key","name":"ção"}' }

describe.each(useManagementStores())('the idempotency store on %s', (_name, open) => {
  let stores: ManagementStoresUnderTest
  beforeEach(async () => {
    stores = await open()
  })
  afterEach(() => stores.close())

  it('returns the first request to a repetition, with another body too', async () => {
    expect(await stores.idempotency.begin(request(), SINCE)).toBeNull()
    const repeated = request({ bodyDigest: 'digest_2', createdAt: 11_000 })
    expect(await stores.idempotency.begin(repeated, SINCE)).toEqual(request())
  })

  it('returns the response once it exists', async () => {
    await stores.idempotency.begin(request(), SINCE)
    await stores.idempotency.complete(claim(), RESPONSE)
    expect(await stores.idempotency.begin(request(), SINCE)).toEqual(
      request({ response: RESPONSE }),
    )
  })

  it('begins one of many concurrent requests, also of two processes', async () => {
    const other = await stores.openAgain()
    // Of several rounds, some read the request while it is on one copy of the index alone.
    for (let round = 0; round < 60; round += 1) {
      const repeated = request({ id: `id_${round}` })
      const begun = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          (n % 2 === 0 ? stores : other).idempotency.begin(repeated, SINCE),
        ),
      )
      expect(begun.filter((first) => first === null)).toHaveLength(1)
      expect(begun.filter((first) => first !== null)).toEqual(Array(11).fill(repeated))
    }
  })

  it('begins one of many concurrent requests after the old one expired', async () => {
    const other = await stores.openAgain()
    await stores.idempotency.begin(request({ createdAt: 4_999 }), since(0))
    await stores.idempotency.complete(claim([4_999]), RESPONSE)
    const begun = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        (n % 2 === 0 ? stores : other).idempotency.begin(request(), SINCE),
      ),
    )
    expect(begun.filter((first) => first === null)).toHaveLength(1)
    expect(await stores.idempotency.begin(request(), SINCE)).toEqual(request())
  })

  it('a request of exactly the oldest instant still counts', async () => {
    await stores.idempotency.begin(request({ createdAt: 5_000 }), since(0))
    expect(await stores.idempotency.begin(request(), SINCE)).not.toBeNull()
    expect(await stores.idempotency.begin(request(), since(5_001))).toBeNull()
  })

  it('begins in place of an abandoned request, and never of one that got its response', async () => {
    await stores.idempotency.begin(request(), SINCE)
    await stores.idempotency.begin(request({ id: 'id_2' }), SINCE)
    await stores.idempotency.complete(claim([10_000], 'id_2'), RESPONSE)
    const abandoned = { completed: 5_000, inProgress: 10_001 }
    const next = (id: string) => request({ id, createdAt: 30_000 })
    expect(await stores.idempotency.begin(next('id_1'), abandoned)).toBeNull()
    expect(await stores.idempotency.begin(next('id_2'), abandoned)).toEqual(
      request({ id: 'id_2', response: RESPONSE }),
    )
  })

  it('a forgotten request can begin again', async () => {
    await stores.idempotency.begin(request(), SINCE)
    await stores.idempotency.forget(claim())
    expect(await stores.idempotency.begin(request(), SINCE)).toBeNull()
  })

  it('keeps requests with other ids apart', async () => {
    for (const id of ['id_1', 'id_2'])
      expect(await stores.idempotency.begin(request({ id }), SINCE)).toBeNull()
    await stores.idempotency.complete(claim(), RESPONSE)
    const second = request({ id: 'id_2' })
    expect(await stores.idempotency.begin(second, SINCE)).toEqual(second)
  })

  it('a renewed request counts from its renewal, and belongs to the same claim', async () => {
    await stores.idempotency.begin(request(), SINCE)
    await stores.idempotency.renew(claim(), 20_000)
    expect(await stores.idempotency.begin(request(), since(20_000))).toEqual(
      request({ createdAt: 20_000 }),
    )
    await stores.idempotency.complete(claim([10_000, 20_000]), RESPONSE)
    expect(await stores.idempotency.begin(request(), since(20_000))).toMatchObject({
      response: RESPONSE,
    })
  })

  it.each<[string, (store: IdempotencyStore) => Promise<void>]>([
    ['a renewal', (store) => store.renew(claim(), 40_000)],
    ['the response', (store) => store.complete(claim(), RESPONSE)],
    ['the end', (store) => store.forget(claim())],
  ])('%s of a claim that ended leaves the request of the next claim', async (_what, late) => {
    await stores.idempotency.begin(request(), SINCE)
    const next = request({ createdAt: 30_000 })
    expect(await stores.idempotency.begin(next, since(10_001))).toBeNull()
    await late(stores.idempotency)
    expect(await stores.idempotency.begin(request(), SINCE)).toEqual(next)
  })

  it.each<[string, (store: IdempotencyStore) => Promise<void>]>([
    ['a renewal', (store) => store.renew(claim(), 40_000)],
    ['another response', (store) => store.complete(claim(), { status: 500, body: '{}' })],
    ['the end', (store) => store.forget(claim())],
  ])('%s leaves a request that has its response', async (_what, late) => {
    await stores.idempotency.begin(request(), SINCE)
    await stores.idempotency.complete(claim(), RESPONSE)
    await late(stores.idempotency)
    expect(await stores.idempotency.begin(request(), SINCE)).toEqual(
      request({ response: RESPONSE }),
    )
  })

  it('ignores the renewal, the response and the end of a missing request', async () => {
    await stores.idempotency.renew(claim(), 20_000)
    await stores.idempotency.complete(claim(), RESPONSE)
    await stores.idempotency.forget(claim())
    expect(await stores.idempotency.begin(request(), SINCE)).toBeNull()
  })

  it('purges the requests before an instant, and nothing else', async () => {
    await stores.idempotency.begin(request({ id: 'id_1', createdAt: 9_999 }), since(0))
    await stores.idempotency.begin(request({ id: 'id_2', createdAt: 10_000 }), since(0))
    await stores.idempotency.purge(10_000)
    expect(await stores.idempotency.begin(request({ id: 'id_1' }), since(0))).toBeNull()
    expect(await stores.idempotency.begin(request({ id: 'id_2' }), since(0))).not.toBeNull()
  })
})
