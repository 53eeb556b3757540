import { beforeEach, describe, expect, it } from 'vitest'
import { DAY_MS } from '../../../../src/lib/durations.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import type { Endpoint, RepeatableRequest } from '../../../../src/webhooks/endpoints/endpoint.ts'
import type { EndpointStore } from '../../../../src/webhooks/endpoints/endpoint-store.ts'
import { createEndpointOperations } from '../../../../src/webhooks/management/endpoint-operations.ts'
import { endpointJson } from '../../../../src/webhooks/management/webhook-json.ts'
import { deriveSecret } from '../../../../src/webhooks/sending/signing-secret.ts'
import { withEndpoints } from '../../../support/webhooks/stores/stubbed-stores.ts'
import { failing, healthy, NOW, settings, useManagement, withCode } from './management.ts'

const test = useManagement()

let nowMs: number
beforeEach(() => {
  nowMs = NOW
})

/** The operations on a store of which some calls are replaced. */
function operations(changes: Partial<EndpointStore>) {
  return createEndpointOperations({
    ...withEndpoints(test.services.webhooks, changes),
    secrets: () => test.secrets,
    allow: [],
    clock: () => nowMs,
  })
}

async function slowInsert(endpoint: Endpoint): Promise<void> {
  nowMs += 3_000
  await test.services.webhooks.endpoints.insert(endpoint)
}

const unavailable = () => Promise.reject(new Unavailable('the store does not respond'))

describe('an endpoint of the sandbox', () => {
  it('is shown as one of its account', async () => {
    const { endpoint } = await test.management.createEndpoint({ ...settings, isTest: true })
    expect(endpointJson(endpoint)).toMatchObject({ account_id: 'acc_1', test: true })
    expect(await test.management.listEndpoints('acc_1')).toEqual([endpoint])
    const target = { id: endpoint.id, accountId: 'acc_1' }
    expect(await test.management.showEndpoint(target)).toEqual(endpoint)
  })

  it('does not exist for another account', async () => {
    const { endpoint } = await test.management.createEndpoint({ ...settings, isTest: true })
    const shown = test.management.showEndpoint({ id: endpoint.id, accountId: 'acc_2' })
    await expect(shown).rejects.toMatchObject({ code: 'endpoint_missing' })
  })
})

describe('listEndpoints', () => {
  it('sorts endpoints of one instant by id, as the pages of the API need', async () => {
    const grant = { ...settings, accountId: 'acc_1' }
    for (const [id, isTest] of [
      ['we_b', false],
      ['we_c', true],
      ['we_a', true],
    ] as const) {
      await test.management.createEndpoint({ ...grant, id, isTest })
    }
    const endpoints = await test.management.listEndpoints('acc_1')
    expect(endpoints.map(({ id }) => id)).toEqual(['we_a', 'we_b', 'we_c'])
  })
})

describe('createEndpoint', () => {
  it('refuses an endpoint beyond the limit, until one is deleted; the sandbox counts apart', async () => {
    const create = (isTest = false) =>
      test.management.createEndpoint({ ...settings, isTest, atMost: 3 })
    for (let count = 1; count < 3; count += 1) await create()
    const { endpoint } = await create()
    await expect(create()).rejects.toMatchObject({ code: 'too_many_endpoints' })
    await create(true)
    await test.management.deleteEndpoint({ id: endpoint.id })
    await create()
  })

  it('counts concurrent creations with a limit one after another', async () => {
    const results = await Promise.allSettled(
      [1, 2, 3, 4].map(() => test.management.createEndpoint({ ...settings, atMost: 2 })),
    )
    const states = results.map(({ status }) => status)
    expect(states).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
  })

  it('returns the endpoint of its request, unless it was deleted or is of an earlier one', async () => {
    const createFor = async (request: RepeatableRequest) => {
      const id = await test.management.endpointIdOf(request)
      return test.management.createEndpoint({ ...settings, id, atMost: 1 })
    }
    const request = { id: 'request_1', sinceMs: NOW }
    const made = await createFor(request)
    expect(await createFor(request)).toEqual(made)
    await test.management.deleteEndpoint({ id: made.endpoint.id })
    const { endpoint } = await createFor(request)
    expect(await createFor(request)).toMatchObject({ endpoint: { id: endpoint.id } })
    const later = await test.management.endpointIdOf({ ...request, sinceMs: NOW + 1 })
    const other = await test.management.endpointIdOf({ ...request, id: 'request_2' })
    expect(new Set([made.endpoint.id, endpoint.id, later, other]).size).toBe(4)
  })

  it('finds the endpoint of its request after midnight', async () => {
    const request = { id: 'request_1', sinceMs: NOW }
    const id = await test.management.endpointIdOf(request)
    await test.management.createEndpoint({ ...settings, id })
    test.setNow(NOW + DAY_MS)
    expect(await test.management.endpointIdOf(request)).toBe(id)
  })

  it('has another id and secret than a deleted one of an equal request, also once it is purged', async () => {
    const createAt = async (nowMs: number) => {
      test.setNow(nowMs)
      const id = await test.management.endpointIdOf({ id: 'request_1', sinceMs: nowMs - DAY_MS })
      return test.management.createEndpoint({ ...settings, id })
    }
    const deleted = await createAt(NOW)
    await test.management.deleteEndpoint({ id: deleted.endpoint.id })
    await test.services.webhooks.endpoints.purgeDeleted(NOW + 1)
    const created = await createAt(NOW + 8 * DAY_MS)
    expect(created.endpoint.id).not.toBe(deleted.endpoint.id)
    expect(created.secret).not.toBe(deleted.secret)
  })

  it('stores an enabled endpoint, whose deliveries start 5 seconds later', async () => {
    const { endpoint } = await test.management.createEndpoint({
      ...settings,
      events: ['order.paid'],
      payload: 'thin',
      description: 'ERP',
    })
    expect(endpoint).toEqual({
      id: expect.stringMatching(/^we_[0-9a-f]{32}$/),
      accountId: 'acc_1',
      url: settings.url,
      events: ['order.paid'],
      payload: 'thin',
      description: 'ERP',
      disabledReason: null,
      createdAt: NOW,
      startsAt: NOW + 5_000,
      secret: { kid: test.secrets[0].kid, generation: 1 },
      previousSecret: null,
      failingSince: null,
      lastSuccessAt: null,
      isBreakerOpen: false,
      noticesSent: 0,
      deletedAt: null,
    })
    expect(await test.stored(endpoint.id)).toEqual(endpoint)
  })

  it('starts 5 seconds after a slow insert, when every writer has read it', async () => {
    const { createEndpoint } = operations({ insert: slowInsert })
    const { endpoint } = await createEndpoint(settings)
    expect(endpoint).toMatchObject({ createdAt: NOW, startsAt: NOW + 8_000 })
    expect(await test.stored(endpoint.id)).toEqual(endpoint)
  })

  it('returns the secret that signs, and stores no part of it', async () => {
    const { endpoint, secret } = await test.management.createEndpoint(settings)
    expect(secret).toBe(deriveSecret(test.secrets, endpoint.id, endpoint.secret))
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(JSON.stringify(await test.stored(endpoint.id))).not.toContain(secret.slice(6, 20))
  })

  it('gives two endpoints of one URL different secrets', async () => {
    const [one, other] = [
      await test.management.createEndpoint(settings),
      await test.management.createEndpoint(settings),
    ]
    expect(one.secret).not.toBe(other.secret)
  })

  it.each([
    ['invalid_url', { url: 'http://receiver.example/hooks' }],
    ['invalid_events', { events: ['order.payed'] }],
    ['invalid_payload', { payload: 'tiny' }],
    ['invalid_description', { description: 'a\nb' }],
  ])('stores nothing for %s', async (code, change) => {
    const created = test.management.createEndpoint({ ...settings, ...change })
    await expect(created).rejects.toThrow(withCode(code))
    expect(await test.management.listEndpoints('acc_1')).toEqual([])
  })

  it('stores nothing where the secrets are not configured', async () => {
    const { createEndpoint } = createEndpointOperations({
      ...test.services.webhooks,
      allow: [],
      clock: () => NOW,
      secrets() {
        throw new Error('WEBHOOK_SECRETS is not set')
      },
    })
    await expect(createEndpoint(settings)).rejects.toThrow('WEBHOOK_SECRETS')
    expect(await test.management.listEndpoints('acc_1')).toEqual([])
  })

  it('returns the secret of a stored endpoint whose start cannot be stored', async () => {
    const { createEndpoint } = operations({ insert: slowInsert, update: unavailable })
    const { endpoint, secret } = await createEndpoint(settings)
    expect(endpoint).toMatchObject({ createdAt: NOW, startsAt: NOW + 8_000 })
    expect(secret).toBe(deriveSecret(test.secrets, endpoint.id, endpoint.secret))
    expect(await test.stored(endpoint.id)).toEqual({ ...endpoint, startsAt: NOW + 5_000 })
  })

  it('fails when its start is rejected', async () => {
    const { createEndpoint } = operations({
      insert: slowInsert,
      update: () => Promise.reject(new Error('a defect')),
    })
    await expect(createEndpoint(settings)).rejects.toThrow('a defect')
  })

  it('names the endpoint that may be stored when the outcome is unknown', async () => {
    const { createEndpoint } = operations({ insert: unavailable })
    await expect(createEndpoint(settings)).rejects.toThrow(
      /^the store does not respond; the endpoint may be stored; if the list of acc_1 has we_/,
    )
  })
})

describe('showEndpoint', () => {
  it('returns an endpoint by its id', async () => {
    const endpoint = await test.endpoint()
    expect(await test.management.showEndpoint({ id: endpoint.id })).toEqual(endpoint)
  })

  it("does not find another account's endpoint when it is asked for one account's", async () => {
    const { id } = await test.endpoint()
    expect(await test.management.showEndpoint({ id, accountId: 'acc_1' })).toMatchObject({ id })
    const shown = test.management.showEndpoint({ id, accountId: 'acc_2' })
    await expect(shown).rejects.toThrow(withCode('endpoint_missing'))
  })

  it('names an id that does not exist, and never a secret in place of an id', async () => {
    const { management } = test
    await expect(management.showEndpoint({ id: 'we_none' })).rejects.toThrow('we_none')
    const shown = management.showEndpoint({ id: 'whsec_c2VjcmV0' })
    await expect(shown).rejects.toThrow('that is a secret, not the id of an endpoint')
    await expect(shown).rejects.not.toThrow('c2VjcmV0')
  })
})

describe('updateEndpoint', () => {
  it('changes what is given, and keeps the rest and the secret', async () => {
    const endpoint = await test.endpoint()
    const changes = { events: ['order.paid'], payload: 'thin', description: 'ERP' }
    const updated = await test.management.updateEndpoint({ id: endpoint.id }, changes)
    expect(updated).toEqual({ ...endpoint, ...changes })
    expect(await test.stored(endpoint.id)).toEqual(updated)
  })

  it('forgets the failures of the old URL, and no others', async () => {
    const { id, url } = await test.endpoint(failing)
    const { management } = test
    expect(await management.updateEndpoint({ id }, { url })).toMatchObject(failing)
    expect(await management.updateEndpoint({ id }, { url: `${url}/2` })).toMatchObject(healthy)
  })

  it('keeps the first failure while the endpoint is disabled, for the replay that enabling offers', async () => {
    const { id, url } = await test.endpoint({ ...failing, disabledReason: 'failing' })
    const moved = await test.management.updateEndpoint({ id }, { url: `${url}/2` })
    expect(moved).toMatchObject({ failingSince: failing.failingSince, isBreakerOpen: false })
    const enabled = await test.management.enableEndpoint({ id })
    expect(enabled).toMatchObject({ endpoint: healthy, failedSince: failing.failingSince })
  })

  it('keeps the count of notices of a disabled endpoint, which were sent', async () => {
    const { id, url } = await test.endpoint({ disabledReason: 'gone', noticesSent: 3 })
    const updated = await test.management.updateEndpoint({ id }, { url: `${url}/2` })
    expect(updated).toMatchObject({ disabledReason: 'gone', noticesSent: 3 })
  })

  it('accepts the URL that is stored, also when no new endpoint could have it', async () => {
    const url = 'http://127.0.0.1:4000/'
    const { id } = await test.endpoint({ url })
    const changes = { url, description: 'ERP' }
    const updated = await test.management.updateEndpoint({ id }, changes)
    expect(updated).toMatchObject(changes)
    expect(await test.stored(id)).toEqual(updated)
  })

  it.each([
    ['invalid_url', { url: 'https://10.0.0.1/' }],
    ['invalid_events', { events: [] }],
  ])('changes nothing for %s', async (code, change) => {
    const endpoint = await test.endpoint()
    const updated = test.management.updateEndpoint({ id: endpoint.id }, change)
    await expect(updated).rejects.toThrow(withCode(code))
    expect(await test.stored(endpoint.id)).toEqual(endpoint)
  })
})
