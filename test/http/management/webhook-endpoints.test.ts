import { describe, expect, it } from 'vitest'
import { useManagementApi } from '../../support/management/management-api.ts'
import { createEndpoint, RECEIVER } from '../../support/management/webhook-endpoints.ts'

const test = useManagementApi()

const ENDPOINTS = '/accounts/acc_1/webhook-endpoints'
const invalid = (param: string) => ({
  status: 400,
  json: { error: { type: 'invalid_request_error', code: 'invalid_request', param } },
})

describe('webhook endpoints over HTTP', () => {
  it('are created with their secret, which no later response has', async () => {
    const created = await test.api.post(ENDPOINTS, { url: RECEIVER, events: ['order.paid'] })
    expect(created.status).toBe(201)
    expect(created.json).toEqual({
      object: 'webhook_endpoint',
      id: expect.stringMatching(/^we_[0-9a-f]{32}$/),
      account_id: 'acc_1',
      test: false,
      url: RECEIVER,
      events: ['order.paid'],
      payload: 'full',
      status: 'enabled',
      description: null,
      secret: expect.stringMatching(/^whsec_/),
      starts_at: expect.any(String),
    })
    const { secret: _, ...endpoint } = created.json
    const shown = await test.api.get(`${ENDPOINTS}/${created.json.id}`)
    expect(shown.json).toEqual({ ...endpoint, failing_since: null, disabled_reason: null })
  })

  it('receive every event and the whole order unless the body says otherwise', async () => {
    const endpoint = await createEndpoint(test.api)
    expect(endpoint).toMatchObject({ events: ['*'], payload: 'full' })
  })

  it('are listed oldest first, in pages', async () => {
    const made: string[] = []
    for (let count = 0; count < 5; count += 1) {
      test.api.clock.nowMs += 1
      made.push((await createEndpoint(test.api, 'acc_pages')).id)
    }
    await test.api.refresh()
    const pages = await test.api.walk('/accounts/acc_pages/webhook-endpoints', 2)
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1])
    expect(pages.flat().map(({ id }) => id)).toEqual(made)
  })

  it('change the fields that are sent, and keep the others', async () => {
    const { id } = await createEndpoint(test.api, 'acc_1', { description: 'ERP' })
    const changed = await test.api.call('PATCH', `${ENDPOINTS}/${id}`, {
      body: { payload: 'thin', events: ['order.refunded'] },
    })
    expect(changed).toMatchObject({
      status: 200,
      json: { id, url: RECEIVER, payload: 'thin', events: ['order.refunded'], description: 'ERP' },
    })
  })

  it('are disabled, enabled and deleted', async () => {
    const { id } = await createEndpoint(test.api)
    const disabled = await test.api.post(`${ENDPOINTS}/${id}/disable`)
    expect(disabled).toMatchObject({
      status: 200,
      json: { object: 'webhook_endpoint', status: 'disabled', disabled_reason: 'manual' },
    })
    const enabled = await test.api.post(`${ENDPOINTS}/${id}/enable`)
    expect(enabled).toMatchObject({ status: 200, json: { status: 'enabled' } })
    expect(await test.api.call('DELETE', `${ENDPOINTS}/${id}`)).toMatchObject({ status: 200 })
    expect(await test.api.get(`${ENDPOINTS}/${id}`)).toMatchObject({ status: 404 })
  })

  it('are enabled with the first failure before it, since which a replay sends what failed', async () => {
    const { id } = await createEndpoint(test.api)
    const path = `${ENDPOINTS}/${id}`
    expect((await test.api.post(`${path}/enable`)).json).toMatchObject({ failed_since: null })
    const failedSince = new Date(Date.now() - 86_400_000).toISOString()
    await test.api.services.webhooks.endpoints.update(id, (endpoint) => ({
      ...endpoint,
      disabledReason: 'failing',
      failingSince: Date.parse(failedSince),
    }))
    await test.api.call('PATCH', path, { body: { url: `${RECEIVER}/moved` } })
    const { json } = await test.api.post(`${path}/enable`)
    expect(json).toMatchObject({
      status: 'enabled',
      failing_since: null,
      failed_since: failedSince,
    })
  })

  it('get a new secret, while the old one signs too', async () => {
    const { id, secret } = await createEndpoint(test.api)
    const rolled = await test.api.post(`${ENDPOINTS}/${id}/roll-secret`, { overlap_seconds: 60 })
    expect(rolled.status).toBe(200)
    expect(rolled.json).toEqual({
      secret: expect.stringMatching(/^whsec_/),
      old_secret_ends_at: new Date(test.api.clock.nowMs + 60_000).toISOString(),
    })
    expect(rolled.json.secret).not.toBe(secret)
  })

  it.each([
    ['enable', { object: 'webhook_endpoint' }],
    ['disable', { object: 'webhook_endpoint' }],
    ['roll-secret', { secret: expect.any(String) }],
  ])('accept a JSON content type without a body: %s', async (action, json) => {
    const { id } = await createEndpoint(test.api)
    const headers = { 'content-type': 'application/json' }
    const response = await test.api.post(`${ENDPOINTS}/${id}/${action}`, undefined, { headers })
    expect(response).toMatchObject({ status: 200, json })
  })

  it.each([
    ['url', { url: 'http://receiver.example/' }],
    ['url', { url: 'https://127.0.0.1/' }],
    ['url', {}],
    ['events', { url: RECEIVER, events: ['order.payed'] }],
    ['events', { url: RECEIVER, events: [] }],
    ['payload', { url: RECEIVER, payload: 'both' }],
    ['description', { url: RECEIVER, description: 'two\nlines' }],
    ['description', { url: RECEIVER, description: 1 }],
    ['secret', { url: RECEIVER, secret: 'whsec_mine' }],
  ])('are refused with the name of the field: %s', async (param, body) => {
    expect(await test.api.post(ENDPOINTS, body)).toMatchObject(invalid(param))
  })

  it('are refused with the types that exist, where one is misspelt', async () => {
    const body = { url: RECEIVER, events: ['order.payed'] }
    const { json } = await test.api.post(ENDPOINTS, body)
    expect(json).toMatchObject({ error: { message: expect.stringContaining('order.paid,') } })
  })

  it.each([
    ['roll-secret', 'overlap_seconds', { overlap_seconds: 7 * 86_400 + 1 }],
    ['roll-secret', 'overlap', { overlap: 1 }],
    ['enable', 'force', { force: true }],
    ['replay', 'since', {}],
    ['replay', 'since', { since: 'yesterday' }],
    ['replay', 'since', { since: '2999-01-01T00:00:00Z' }],
    ['replay', 'failed', { since: '2026-11-01T00:00:00Z', failed: 'yes' }],
  ])('refuse %s with the name of the field: %s', async (action, param, body) => {
    const { id } = await createEndpoint(test.api)
    expect(await test.api.post(`${ENDPOINTS}/${id}/${action}`, body)).toMatchObject(invalid(param))
  })

  it('are not changed by a body without a field', async () => {
    const { id } = await createEndpoint(test.api)
    const response = await test.api.call('PATCH', `${ENDPOINTS}/${id}`, { body: {} })
    expect(response).toMatchObject(invalid('body'))
  })

  it.each([
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/enable'],
    ['POST', '/disable'],
    ['POST', '/roll-secret'],
    ['POST', '/test'],
    ['POST', '/replay'],
    ['GET', '/deliveries'],
  ] as const)('of another account do not exist: %s %s', async (method, action) => {
    const { id } = await createEndpoint(test.api, 'acc_2')
    const body = { PATCH: { payload: 'thin' }, POST: {} }[method as string]
    const since = { since: new Date(test.api.clock.nowMs - 1_000).toISOString() }
    const response = await test.api.call(method, `${ENDPOINTS}/${id}${action}`, {
      ...(body && { body: action === '/replay' ? since : body }),
    })
    expect(response).toMatchObject({ status: 404, json: { error: { code: 'resource_missing' } } })
    const untouched = await test.api.get(`/accounts/acc_2/webhook-endpoints/${id}`)
    expect(untouched.json).toMatchObject({ status: 'enabled', payload: 'full' })
  })

  it.each([
    ['an account', 'acc_audited', false],
    ['a sandbox', 'acc_sandbox_audited', true],
  ])('of %s have one entry in its audit log for every change', async (_owner, account, isTest) => {
    const { id } = await createEndpoint(test.api, account, { test: isTest })
    const path = `/accounts/${account}/webhook-endpoints/${id}`
    await test.api.call('PATCH', path, { body: { payload: 'thin' } })
    const { json: sent } = await test.api.post(`${path}/test`)
    await test.api.post(`/accounts/${account}/deliveries/${sent.id}/resend`)
    const since = new Date(test.api.clock.nowMs - 1_000).toISOString()
    await test.api.post(`${path}/replay`, { since })
    await test.api.post(`${path}/roll-secret`)
    await test.api.post(`${path}/disable`)
    await test.api.post(`${path}/test`)
    await test.api.post(`${path}/enable`)
    await test.api.call('DELETE', path)
    await test.api.post(`${path}/enable`)
    await test.api.refresh()
    const entry = (action: string, outcome = 'done', target = id) => ({
      actor: 'token:platform',
      action,
      target,
      outcome,
    })
    const expected = [
      entry('webhook_endpoint.create'),
      entry('webhook_endpoint.update'),
      entry('webhook_endpoint.test'),
      entry('delivery.resend', 'done', sent.id),
      entry('webhook_endpoint.replay'),
      entry('webhook_endpoint.roll_secret'),
      entry('webhook_endpoint.disable'),
      entry('webhook_endpoint.test', 'failed'), // It was disabled.
      entry('webhook_endpoint.enable'),
      entry('webhook_endpoint.delete'),
    ]
    // All are of one instant, whose order is that of their random ids.
    const audited = await test.api.audited(account)
    expect(audited).toHaveLength(expected.length)
    expect(audited).toEqual(expect.arrayContaining(expected))
  })

  it('of a sandbox are in the audit log under the live account, also in its earlier entries', async () => {
    const id = `aud_${'1'.repeat(32)}`
    await test.api.services.managementStores.audit.insert({
      ...{ id, at: 1, actor: 'cli', requestId: null, outcome: 'done' },
      ...{ accountId: 'acc_earlier.test', action: 'webhook_endpoint.update', target: 'we_1' },
    })
    const { json } = await test.api.get('/audit?account_id=acc_earlier')
    expect(json.data).toMatchObject([{ id, account_id: 'acc_earlier' }])
  })
})
