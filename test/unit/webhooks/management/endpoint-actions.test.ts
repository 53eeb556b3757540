import { describe, expect, it } from 'vitest'
import { DAY_MS, HOUR_MS } from '../../../../src/lib/durations.ts'
import type { RepeatableRequest } from '../../../../src/webhooks/endpoints/endpoint.ts'
import { createEndpointActions } from '../../../../src/webhooks/management/endpoint-actions.ts'
import { deriveSecret } from '../../../../src/webhooks/sending/signing-secret.ts'
import { failTimes, withDeliveries } from '../../../support/webhooks/stores/stubbed-stores.ts'
import { failing, healthy, NOW, useManagement, withCode } from './management.ts'

const test = useManagement()

describe('disableEndpoint', () => {
  it('holds what is pending, and leaves what is completed', async () => {
    const endpoint = await test.endpoint()
    const pending = await test.deliver(endpoint)
    const done = await test.deliver(endpoint, {
      event: { sequence: 2 },
      state: 'delivered',
      nextAt: null,
    })
    const disabled = await test.management.disableEndpoint({ id: endpoint.id })
    expect(disabled).toEqual({ ...endpoint, disabledReason: 'manual' })
    expect(await test.delivery(pending.id)).toMatchObject({ state: 'held', heldAt: NOW })
    expect(await test.delivery(done.id)).toEqual(done)
  })

  it('holds nothing of an endpoint that is enabled during the hold', async () => {
    const endpoint = await test.endpoint()
    const pending = await test.deliver(endpoint)
    const { webhooks } = test.services
    const actions = createEndpointActions({
      ...withDeliveries(webhooks, {
        async hold(id, nowMs) {
          await test.management.enableEndpoint({ id })
          return webhooks.deliveries.hold(id, nowMs)
        },
      }),
      ...{ secrets: () => test.secrets, clock: () => NOW, retentionMs: DAY_MS },
    })
    await actions.disableEndpoint({ id: endpoint.id })
    expect(await test.delivery(pending.id)).toMatchObject({ state: 'pending' })
  })

  it('keeps the reason of an endpoint that is disabled already', async () => {
    const { id } = await test.endpoint({ disabledReason: 'gone' })
    const disabled = await test.management.disableEndpoint({ id })
    expect(disabled.disabledReason).toBe('gone')
  })
})

describe('enableEndpoint', () => {
  it('clears the failures, and makes what was held due', async () => {
    const endpoint = await test.endpoint({ ...failing, disabledReason: 'failing' })
    const held = await test.deliver(endpoint, {
      state: 'held',
      nextAt: null,
      heldAt: NOW - HOUR_MS,
    })
    const enabled = await test.management.enableEndpoint({ id: endpoint.id })
    expect(enabled).toEqual({
      endpoint: { ...endpoint, ...healthy, disabledReason: null },
      released: 1,
      failedSince: failing.failingSince,
    })
    const { recordedAt } = held.event
    expect(await test.delivery(held.id)).toMatchObject({ state: 'pending', nextAt: recordedAt })
  })

  it('releases what an interrupted enabling left held', async () => {
    const endpoint = await test.endpoint()
    const held = await test.deliver(endpoint, { state: 'held', nextAt: null, heldAt: NOW })
    const { released } = await test.management.enableEndpoint({ id: endpoint.id })
    expect(released).toBe(1)
    expect(await test.delivery(held.id)).toMatchObject({ state: 'pending' })
  })
})

describe('the start of the replay that enabling offers', () => {
  const disabled = { ...failing, disabledReason: 'failing' } as const

  it('is offered again by the repetition after a failure of the store', async () => {
    const endpoint = await test.endpoint(disabled)
    await test.deliver(endpoint, { state: 'held', nextAt: null, heldAt: NOW })
    const { deliveries } = test.services.webhooks
    const failOnce = failTimes(1, 'the store does not respond')
    const stores = withDeliveries(test.services.webhooks, {
      async releaseHeld(...call) {
        failOnce()
        return deliveries.releaseHeld(...call)
      },
    })
    const { enableEndpoint } = createEndpointActions({
      ...stores,
      retentionMs: 30 * DAY_MS,
      clock: () => NOW,
      secrets: () => test.secrets,
    })
    const enable = () => enableEndpoint({ id: endpoint.id })
    await expect(enable()).rejects.toThrow('the store does not respond')
    expect(await enable()).toMatchObject({ released: 1, failedSince: failing.failingSince })
  })

  it('is one that the replay accepts for an hour, also after a failure of long ago', async () => {
    const { id } = await test.endpoint({ ...disabled, failingSince: NOW - 40 * DAY_MS })
    const { failedSince } = await test.management.enableEndpoint({ id })
    test.setNow(NOW + HOUR_MS)
    const replay = { sinceMs: failedSince ?? 0, failedOnly: true }
    expect(await test.management.replay({ id }, replay)).toBe(0)
    expect(failedSince).toBe(NOW - 30 * DAY_MS + HOUR_MS)
  })
})

describe('deleteEndpoint', () => {
  it('cancels what was not delivered, and the endpoint is not found any more', async () => {
    const endpoint = await test.endpoint()
    const pending = await test.deliver(endpoint)
    const { id } = endpoint
    const { management } = test
    expect(await management.deleteEndpoint({ id })).toEqual({ ...endpoint, deletedAt: NOW })
    expect(await test.delivery(pending.id)).toMatchObject({ state: 'canceled' })
    expect(await management.listEndpoints('acc_1')).toEqual([])
    for (const again of [
      management.showEndpoint({ id }),
      management.deleteEndpoint({ id }),
      management.enableEndpoint({ id }),
      management.rollSecret({ id }, 0),
      management.listDeliveries({ id }),
    ]) {
      await expect(again).rejects.toThrow(withCode('endpoint_missing'))
    }
  })
})

describe('rollSecret', () => {
  it('signs with the next generation, and with the old one until the overlap ends', async () => {
    const { id, secret: old } = await test.endpoint()
    const rolled = await test.management.rollSecret({ id }, HOUR_MS)
    const next = { kid: old.kid, generation: 2 }
    expect(rolled).toEqual({
      secret: deriveSecret(test.secrets, id, next),
      oldSecretEndsAt: NOW + HOUR_MS,
      hasEndedEarlierOne: false,
    })
    expect(await test.stored(id)).toMatchObject({
      secret: next,
      previousSecret: { ...old, endsAt: NOW + HOUR_MS },
    })
  })

  it('ends the old secret at once without an overlap', async () => {
    const { id } = await test.endpoint()
    expect(await test.management.rollSecret({ id }, 0)).toMatchObject({ oldSecretEndsAt: NOW })
    expect(await test.stored(id)).toMatchObject({ previousSecret: null })
  })

  it('ends the oldest secret at a second roll within an overlap', async () => {
    const { id, secret } = await test.endpoint()
    await test.management.rollSecret({ id }, 7 * DAY_MS)
    test.setNow(NOW + HOUR_MS)
    const rolled = await test.management.rollSecret({ id }, DAY_MS)
    expect(rolled.hasEndedEarlierOne).toBe(true)
    expect(await test.stored(id)).toMatchObject({
      secret: { ...secret, generation: 3 },
      previousSecret: { ...secret, generation: 2, endsAt: NOW + HOUR_MS + DAY_MS },
    })
    test.setNow(NOW + HOUR_MS + DAY_MS)
    expect(await test.management.rollSecret({ id }, 0)).toMatchObject({ hasEndedEarlierOne: false })
  })

  it('repeats the last roll of a request, and rolls again for another or an earlier one', async () => {
    const { id } = await test.endpoint()
    const roll = (request?: RepeatableRequest, overlapMs = HOUR_MS) =>
      test.management.rollSecret({ id }, overlapMs, request)
    const request = { id: 'request_1', sinceMs: NOW }
    const rolled = await roll(request)
    test.setNow(NOW + 1)
    expect(await roll(request)).toEqual(rolled)
    expect((await test.stored(id))?.secret.generation).toBe(2)
    await roll({ ...request, sinceMs: NOW + 1 })
    await roll({ ...request, id: 'request_2' })
    const last = await roll(undefined, 0)
    expect(await test.stored(id)).toMatchObject({ secret: { generation: 5 } })
    expect(last.oldSecretEndsAt).toBe(NOW + 1)
    const atOnce = await roll(request, 0)
    test.setNow(NOW + 2)
    expect(await roll(request, 0)).toEqual(atOnce)
  })

  it('derives the next secret from the first entry of WEBHOOK_SECRETS', async () => {
    const { id, secret: old } = await test.endpoint()
    const added = { kid: 'k2', secret: Buffer.alloc(32, 9) }
    const secrets = [added, ...test.secrets] as const
    const { rollSecret } = createEndpointActions({
      ...test.services.webhooks,
      retentionMs: 30 * DAY_MS,
      clock: () => NOW,
      secrets: () => secrets,
    })
    const { secret } = await rollSecret({ id }, HOUR_MS)
    expect(secret).toBe(deriveSecret(secrets, id, { kid: 'k2', generation: 2 }))
    expect(await test.stored(id)).toMatchObject({
      secret: { kid: 'k2', generation: 2 },
      previousSecret: old,
    })
  })

  it('ends at once an old secret whose entry is lost, since nothing can sign with it', async () => {
    const { id } = await test.endpoint({ secret: { kid: 'lost', generation: 1 } })
    expect(await test.management.rollSecret({ id }, DAY_MS)).toMatchObject({ oldSecretEndsAt: NOW })
    expect(await test.stored(id)).toMatchObject({
      secret: { kid: test.secrets[0].kid, generation: 2 },
      previousSecret: null,
    })
  })

  it('never gives two concurrent rolls the same secret', async () => {
    const { id } = await test.endpoint()
    const rolls = await Promise.all([1, 2, 3].map(() => test.management.rollSecret({ id }, 0)))
    expect(new Set(rolls.map(({ secret }) => secret)).size).toBe(3)
  })

  it.each([-1, 7 * DAY_MS + 1, Number.NaN, Infinity])('rejects the overlap %d', async (overlap) => {
    const endpoint = await test.endpoint()
    const rolled = test.management.rollSecret({ id: endpoint.id }, overlap)
    await expect(rolled).rejects.toThrow(withCode('invalid_overlap'))
    expect(await test.stored(endpoint.id)).toEqual(endpoint)
  })
})
