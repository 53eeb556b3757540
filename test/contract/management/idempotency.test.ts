import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { HOUR_MS } from '../../../src/lib/durations.ts'
import {
  ABANDONED_AFTER_MS,
  createIdempotency,
  type HeldClaim,
  type Idempotency,
  RENEW_EVERY_MS,
} from '../../../src/management/idempotency/idempotency.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { useServices } from '../../support/stores/use-services.ts'

const CALLS = 12
const request = { id: 'request', bodyDigest: 'body' }
const response = { status: 201, body: '{"id":"key_1"}' }

const stores = useServices()
let other: Services
let processes: readonly [Idempotency, Idempotency]
let now: number

beforeEach(async () => {
  now = Date.parse('2026-11-23T12:00:00Z')
  other = await openServices(parseConfig(stores.env))
  // Otherwise both create the index, and one may read it before its primary shard has started.
  await stores.services.managementStores.idempotency.purge(0)
  const of = ({ managementStores }: Services) =>
    createIdempotency(managementStores.idempotency, () => now)
  processes = [of(stores.services), of(other)]
})
afterEach(() => other.close())

/** Begins the request, which must start. */
async function start(idempotency: Idempotency): Promise<HeldClaim> {
  const decision = await idempotency.begin(request)
  if (decision.kind !== 'started') throw new Error(`the request is ${decision.kind}`)
  return decision.claim
}

/**
 * Begins the request several times at once, from two processes. Returns the number of each kind.
 */
async function beginTogether(): Promise<Record<string, number>> {
  const [one, two] = processes
  const calls = Array.from({ length: CALLS }, (_, at) => (at % 2 === 0 ? one : two).begin(request))
  const kinds: Record<string, number> = {}
  for (const { kind } of await Promise.all(calls)) kinds[kind] = (kinds[kind] ?? 0) + 1
  return kinds
}

const ONE_STARTED = { started: 1, in_progress: CALLS - 1 }

describe('of concurrent requests of two processes with one Idempotency-Key', () => {
  it('one starts, and the others see it in progress', async () => {
    expect(await beginTogether()).toEqual(ONE_STARTED)
  })

  it('none starts once the first is complete: all get its response', async () => {
    const [one, two] = processes
    await (await start(one)).complete(response)
    expect(await beginTogether()).toEqual({ completed: CALLS })
    expect(await two.begin(request)).toEqual({ kind: 'completed', response })
  })

  it('one starts after the first was forgotten', async () => {
    const [one] = processes
    await (await start(one)).forget()
    expect(await beginTogether()).toEqual(ONE_STARTED)
  })

  it('one starts two minutes after a process left the request in progress', async () => {
    const [one] = processes
    await one.begin(request)
    now += ABANDONED_AFTER_MS
    expect(await one.begin(request)).toEqual({ kind: 'in_progress' })
    now += 1
    expect(await beginTogether()).toEqual(ONE_STARTED)
  })

  describe('a request that runs longer than two minutes', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    })
    afterEach(() => {
      vi.useRealTimers()
    })

    /** Lets time pass until the claim is renewed. */
    async function renewed(): Promise<void> {
      now += RENEW_EVERY_MS
      vi.advanceTimersByTime(RENEW_EVERY_MS)
      const { idempotency } = other.managementStores
      const repeated = { ...request, createdAt: now, response: null }
      const begin = () => idempotency.begin(repeated, { completed: 0, inProgress: 0 })
      await expect.poll(begin).toMatchObject({ found: { createdAt: now } })
    }

    it('stays in progress, and the others get its response', async () => {
      const [one] = processes
      const claim = await start(one)
      for (let passed = 0; passed <= ABANDONED_AFTER_MS; passed += RENEW_EVERY_MS) await renewed()
      expect(await beginTogether()).toEqual({ in_progress: CALLS })
      await claim.complete(response)
      expect(await beginTogether()).toEqual({ completed: CALLS })
    })

    it('is renewed no longer once it was forgotten', async () => {
      const [one] = processes
      const claim = await start(one)
      await renewed()
      await claim.forget()
      expect(vi.getTimerCount()).toBe(0)
      expect(await beginTogether()).toEqual(ONE_STARTED)
    })

    it.each(['complete', 'forget'] as const)(
      'cannot %s what another process runs since its claim was abandoned',
      async (end) => {
        const [one, two] = processes
        const claim = await start(one)
        now += ABANDONED_AFTER_MS + 1 // Suspended, so without a renewal.
        const next = await start(two)
        await claim[end]({ status: 201, body: '{}' })
        expect(await two.begin(request)).toEqual({ kind: 'in_progress' })
        await next.complete(response)
        expect(await two.begin(request)).toEqual({ kind: 'completed', response })
      },
    )
  })

  it('one starts 24 hours after the first', async () => {
    const [one] = processes
    await (await start(one)).complete(response)
    now += 24 * HOUR_MS
    expect(await one.begin(request)).toMatchObject({ kind: 'completed' })
    now += 1
    expect(await beginTogether()).toEqual(ONE_STARTED)
  })
})

it('an Idempotency-Key of another body is refused, in progress and complete', async () => {
  const [one, two] = processes
  const claim = await start(one)
  const otherBody = { ...request, bodyDigest: 'other' }
  expect(await two.begin(otherBody)).toEqual({ kind: 'other_body' })
  await claim.complete(response)
  expect(await two.begin(otherBody)).toEqual({ kind: 'other_body' })
})
