import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type {
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

const since = (instant: number): KeptSince => ({ completed: instant, inProgress: instant })

const SINCE = since(5_000)
const RESPONSE = { status: 201, body: '{"object":"api_key","name":"ção"}' }

describe.each(useManagementStores())('the idempotency store on %s', (_name, open) => {
  let stores: ManagementStoresUnderTest
  beforeEach(async () => {
    stores = await open()
  })
  afterEach(() => stores.close())

  /** The stored request that is kept; `null` once this one is inserted. */
  async function begin(
    repeated: IdempotentRequest,
    kept: KeptSince,
    { idempotency }: Pick<ManagementStoresUnderTest, 'idempotency'> = stores,
  ): Promise<IdempotentRequest | null> {
    const begun = await idempotency.begin(repeated, kept)
    return 'found' in begun ? begun.found : null
  }

  /** Inserts a request. */
  async function start(first = request()): Promise<RequestClaim> {
    const begun = await stores.idempotency.begin(first, since(0))
    if ('claim' in begun) return begun.claim
    throw new Error('the request was inserted before')
  }

  it('returns the first request to a repetition, with another body too', async () => {
    expect(await begin(request(), SINCE)).toBeNull()
    const repeated = request({ bodyDigest: 'digest_2', createdAt: 11_000 })
    expect(await begin(repeated, SINCE)).toEqual(request())
  })

  it('returns the response once it exists', async () => {
    const claim = await start()
    await claim.complete(RESPONSE)
    expect(await begin(request(), SINCE)).toEqual(request({ response: RESPONSE }))
  })

  it('begins one of many concurrent requests, also of two processes', async () => {
    const other = await stores.openAgain()
    // Of several rounds, some read the request while it is on one copy of the index alone.
    for (let round = 0; round < 60; round += 1) {
      const repeated = request({ id: `id_${round}` })
      const begun = await Promise.all(
        Array.from({ length: 12 }, (_, n) => begin(repeated, SINCE, n % 2 === 0 ? stores : other)),
      )
      expect(begun.filter((first) => first === null)).toHaveLength(1)
      expect(begun.filter((first) => first !== null)).toEqual(Array(11).fill(repeated))
    }
  })

  it('begins one of many concurrent requests after the old one expired', async () => {
    const other = await stores.openAgain()
    const expired = await start(request({ createdAt: 4_999 }))
    await expired.complete(RESPONSE)
    const begun = await Promise.all(
      Array.from({ length: 12 }, (_, n) => begin(request(), SINCE, n % 2 === 0 ? stores : other)),
    )
    expect(begun.filter((first) => first === null)).toHaveLength(1)
    expect(await begin(request(), SINCE)).toEqual(request())
  })

  it('a request of exactly the oldest instant still counts', async () => {
    await begin(request({ createdAt: 5_000 }), since(0))
    expect(await begin(request(), SINCE)).not.toBeNull()
    expect(await begin(request(), since(5_001))).toBeNull()
  })

  it('begins in place of an abandoned request, and never of one that got its response', async () => {
    await start()
    const completed = await start(request({ id: 'id_2' }))
    await completed.complete(RESPONSE)
    const abandoned = { completed: 5_000, inProgress: 10_001 }
    const next = (id: string) => request({ id, createdAt: 30_000 })
    expect(await begin(next('id_1'), abandoned)).toBeNull()
    expect(await begin(next('id_2'), abandoned)).toEqual(
      request({ id: 'id_2', response: RESPONSE }),
    )
  })

  it('a forgotten request can begin again', async () => {
    const claim = await start()
    await claim.forget()
    expect(await begin(request(), SINCE)).toBeNull()
  })

  it('keeps requests with other ids apart', async () => {
    const claim = await start()
    const second = request({ id: 'id_2' })
    expect(await begin(second, SINCE)).toBeNull()
    await claim.complete(RESPONSE)
    expect(await begin(second, SINCE)).toEqual(second)
  })

  it('a renewed request counts from its renewal, and belongs to the same claim', async () => {
    const claim = await start()
    await claim.renew(20_000)
    expect(await begin(request(), since(20_000))).toEqual(request({ createdAt: 20_000 }))
    await claim.complete(RESPONSE)
    expect(await begin(request(), since(20_000))).toMatchObject({
      response: RESPONSE,
    })
  })

  it.each<[string, (claim: RequestClaim) => Promise<void>]>([
    ['a renewal', (claim) => claim.renew(40_000)],
    ['the response', (claim) => claim.complete(RESPONSE)],
    ['the end', (claim) => claim.forget()],
  ])('%s of a claim that ended leaves the request of the next claim', async (_what, late) => {
    const claim = await start()
    const next = request({ createdAt: 30_000 })
    expect(await begin(next, since(10_001))).toBeNull()
    await late(claim)
    expect(await begin(request(), SINCE)).toEqual(next)
  })

  it.each<[string, (claim: RequestClaim) => Promise<void>]>([
    ['a renewal', (claim) => claim.renew(40_000)],
    ['another response', (claim) => claim.complete({ status: 500, body: '{}' })],
    ['the end', (claim) => claim.forget()],
  ])('%s leaves a request that has its response', async (_what, late) => {
    const claim = await start()
    await claim.complete(RESPONSE)
    await late(claim)
    expect(await begin(request(), SINCE)).toEqual(request({ response: RESPONSE }))
  })

  it('no renewal, response or end of a missing request inserts it', async () => {
    const claim = await start()
    await claim.forget()
    // OpenSearch cannot distinguish it from an outdated read.
    await Promise.allSettled([claim.renew(20_000), claim.complete(RESPONSE), claim.forget()])
    expect(await begin(request(), SINCE)).toBeNull()
  })

  it('purges the requests before an instant, and nothing else', async () => {
    await begin(request({ id: 'id_1', createdAt: 9_999 }), since(0))
    await begin(request({ id: 'id_2', createdAt: 10_000 }), since(0))
    await stores.idempotency.purge(10_000)
    expect(await begin(request({ id: 'id_1' }), since(0))).toBeNull()
    expect(await begin(request({ id: 'id_2' }), since(0))).not.toBeNull()
  })
})
