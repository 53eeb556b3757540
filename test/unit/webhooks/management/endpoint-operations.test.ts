import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/unavailable.ts'
import { createEndpointOperations } from '../../../../src/webhooks/management/endpoint-operations.ts'
import { endpointJson } from '../../../../src/webhooks/management/webhook-json.ts'
import { deriveSecret } from '../../../../src/webhooks/sending/signing-secret.ts'
import { DAY_MS, HOUR_MS, NOW, settings, useManagement } from './management.ts'

const test = useManagement()

const failing = { failingSince: NOW - DAY_MS, isBreakerOpen: true, noticesSent: 2 }
const healthy = { failingSince: null, isBreakerOpen: false, noticesSent: 0 }
const withCode = (code: string) => expect.objectContaining({ code })

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
    let now = NOW
    const { endpoints, deliveries } = test.services.webhooks
    const management = createEndpointOperations({
      endpoints: {
        ...endpoints,
        async insert(endpoint) {
          now += 3_000
          await endpoints.insert(endpoint)
        },
      },
      deliveries,
      secrets: () => test.secrets,
      allow: [],
      retentionMs: 30 * DAY_MS,
      clock: () => now,
    })
    const { endpoint } = await management.createEndpoint(settings)
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
    const operations = createEndpointOperations({
      ...test.services.webhooks,
      allow: [],
      retentionMs: 30 * DAY_MS,
      clock: () => NOW,
      secrets() {
        throw new Error('WEBHOOK_SECRETS is not set')
      },
    })
    await expect(operations.createEndpoint(settings)).rejects.toThrow('WEBHOOK_SECRETS')
    expect(await test.management.listEndpoints('acc_1')).toEqual([])
  })

  it('returns the secret of a stored endpoint whose start cannot be stored', async () => {
    let now = NOW
    const { endpoints, deliveries } = test.services.webhooks
    const operations = createEndpointOperations({
      endpoints: {
        ...endpoints,
        async insert(endpoint) {
          now += 3_000
          await endpoints.insert(endpoint)
        },
        async update() {
          throw new Unavailable('the store does not respond')
        },
      },
      deliveries,
      allow: [],
      retentionMs: 30 * DAY_MS,
      clock: () => now,
      secrets: () => test.secrets,
    })
    const { endpoint, secret } = await operations.createEndpoint(settings)
    expect(endpoint).toMatchObject({ createdAt: NOW, startsAt: NOW + 8_000 })
    expect(secret).toBe(deriveSecret(test.secrets, endpoint.id, endpoint.secret))
    expect(await test.stored(endpoint.id)).toEqual({ ...endpoint, startsAt: NOW + 5_000 })
  })

  it('fails when its start is rejected', async () => {
    let now = NOW
    const { endpoints, deliveries } = test.services.webhooks
    const operations = createEndpointOperations({
      endpoints: {
        ...endpoints,
        async insert() {
          now += 1
        },
        async update() {
          throw new Error('a defect')
        },
      },
      deliveries,
      allow: [],
      retentionMs: 30 * DAY_MS,
      clock: () => now,
      secrets: () => test.secrets,
    })
    await expect(operations.createEndpoint(settings)).rejects.toThrow('a defect')
  })

  it('names the endpoint that may be stored when the outcome is unknown', async () => {
    const { endpoints, deliveries } = test.services.webhooks
    const operations = createEndpointOperations({
      endpoints: {
        ...endpoints,
        async insert() {
          throw new Unavailable('the store does not respond')
        },
      },
      deliveries,
      allow: [],
      retentionMs: 30 * DAY_MS,
      clock: () => NOW,
      secrets: () => test.secrets,
    })
    await expect(operations.createEndpoint(settings)).rejects.toThrow(
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
    const { endpoints, deliveries } = test.services.webhooks
    let failures = 1
    const operations = createEndpointOperations({
      endpoints,
      deliveries: {
        ...deliveries,
        async releaseHeld(...call) {
          failures -= 1
          if (failures >= 0) throw new Unavailable('the store does not respond')
          return deliveries.releaseHeld(...call)
        },
      },
      allow: [],
      retentionMs: 30 * DAY_MS,
      clock: () => NOW,
      secrets: () => test.secrets,
    })
    const enable = () => operations.enableEndpoint({ id: endpoint.id })
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
    await test.management.rollSecret({ id }, DAY_MS)
    expect(await test.stored(id)).toMatchObject({
      secret: { ...secret, generation: 3 },
      previousSecret: { ...secret, generation: 2, endsAt: NOW + HOUR_MS + DAY_MS },
    })
  })

  it('derives the next secret from the first entry of WEBHOOK_SECRETS', async () => {
    const { id, secret: old } = await test.endpoint()
    const added = { kid: 'k2', secret: Buffer.alloc(32, 9) }
    const secrets = [added, ...test.secrets] as const
    const operations = createEndpointOperations({
      ...test.services.webhooks,
      allow: [],
      retentionMs: 30 * DAY_MS,
      clock: () => NOW,
      secrets: () => secrets,
    })
    const { secret } = await operations.rollSecret({ id }, HOUR_MS)
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

describe('a change of an endpoint', () => {
  it.each([
    ['updating', (id: string) => test.management.updateEndpoint({ id }, { description: 'ERP' })],
    ['enabling', (id: string) => test.management.enableEndpoint({ id })],
    ['disabling', (id: string) => test.management.disableEndpoint({ id })],
    ['deleting', (id: string) => test.management.deleteEndpoint({ id })],
    ['rolling the secret of', (id: string) => test.management.rollSecret({ id }, 0)],
  ])('%s an endpoint shows it to the dispatcher again', async (_name, work) => {
    const { id } = await test.endpoint()
    const { token } = await test.changesSince(null)
    await work(id)
    expect((await test.changesSince(token)).ids).toEqual([id])
  })

  it.each([
    ['updating', (target: object) => test.management.updateEndpoint(target as never, {})],
    ['enabling', (target: object) => test.management.enableEndpoint(target as never)],
    ['disabling', (target: object) => test.management.disableEndpoint(target as never)],
    ['deleting', (target: object) => test.management.deleteEndpoint(target as never)],
    ['rolling the secret of', (target: object) => test.management.rollSecret(target as never, 0)],
    ['testing', (target: object) => test.management.sendTest(target as never)],
    ['listing', (target: object) => test.management.listDeliveries(target as never)],
    [
      'replaying',
      (target: object) => test.management.replay(target as never, { sinceMs: NOW - HOUR_MS }),
    ],
  ])("%s another account's endpoint finds none, and changes nothing", async (_name, work) => {
    const endpoint = await test.endpoint()
    const refused = work({ id: endpoint.id, accountId: 'acc_2' })
    await expect(refused).rejects.toThrow(withCode('endpoint_missing'))
    expect(await test.stored(endpoint.id)).toEqual(endpoint)
  })
})
