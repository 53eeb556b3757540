import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import {
  ABANDONED_AFTER_MS,
  createIdempotency,
  type Idempotency,
} from '../../../src/management/idempotency/idempotency.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { useServices } from '../../support/stores/use-services.ts'

const HOUR_MS = 3_600_000
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

/** Begins the request several times at once, from two processes. Returns the number of each kind. */
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
    await one.begin(request)
    await two.complete(request.id, response)
    expect(await beginTogether()).toEqual({ completed: CALLS })
    expect(await two.begin(request)).toEqual({ kind: 'completed', response })
  })

  it('one starts after the first was forgotten', async () => {
    const [one, two] = processes
    await one.begin(request)
    await two.forget(request.id)
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

  it('one starts 24 hours after the first', async () => {
    const [one] = processes
    await one.begin(request)
    await one.complete(request.id, response)
    now += 24 * HOUR_MS
    expect(await one.begin(request)).toMatchObject({ kind: 'completed' })
    now += 1
    expect(await beginTogether()).toEqual(ONE_STARTED)
  })
})

it('an Idempotency-Key of another body is refused, in progress and complete', async () => {
  const [one, two] = processes
  await one.begin(request)
  const otherBody = { ...request, bodyDigest: 'other' }
  expect(await two.begin(otherBody)).toEqual({ kind: 'other_body' })
  await one.complete(request.id, response)
  expect(await two.begin(otherBody)).toEqual({ kind: 'other_body' })
})
