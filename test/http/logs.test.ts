import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { generateApiKey } from '../../src/auth/api-key.ts'
import { createMetrics } from '../../src/observability/metrics/registry.ts'
import { captureLog } from '../support/http/captured-log.ts'
import { ROOMY } from '../support/http/test-app.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { openTestServices } from '../support/stores/services.ts'

const STRICT = { prefer: 'handling=strict' }

const { logger, lines } = captureLog()

const test = await openTestServices(ROOMY)
const metrics = createMetrics()
const app = buildApp(test.config, test.services, {
  logger,
  metrics,
})
let key: string
let keyId: string

beforeAll(async () => {
  const issued = await test.issue()
  key = issued.key
  keyId = issued.record.keyId
  await test.load([sourceOrder({ id: 'ord_one' }), sourceOrder({ id: 'ord_two' })])
})
afterAll(async () => {
  await app.close()
  await test.close()
})

async function logged(url: string, headers: Record<string, string> = {}) {
  lines.length = 0
  const response = await app.inject({ url, headers })
  return { response, text: lines.join(''), entries: lines.map((line) => JSON.parse(line)) }
}

it('the request log writes one line a request: id, route, status, duration, account and key id', async () => {
  const { response, entries } = await logged('/v1/orders/ord_one', {
    authorization: `Bearer ${key}`,
  })
  expect(entries).toHaveLength(1)
  expect(entries[0]).toMatchObject({
    request_id: response.headers['request-id'],
    method: 'GET',
    route: '/v1/orders/:id',
    status: 200,
    duration_ms: expect.any(Number),
    account_id: 'acc_1',
    key_id: keyId,
  })
})

it('the request log writes the error code of a rejected request, and the name of the parameter', async () => {
  const { entries } = await logged('/v1/orders?limit=0', { authorization: `Bearer ${key}` })
  expect(entries[0]).toMatchObject({ status: 400, code: 'invalid_request', param: 'limit' })
})

it('the request log writes no name of an unknown parameter', async () => {
  const headers = { authorization: `Bearer ${key}`, ...STRICT }
  const { entries } = await logged('/v1/orders?statuss=PAID', headers)
  expect(entries[0]).toMatchObject({ status: 400, code: 'invalid_request', param: 'unknown' })
})

it('the request log writes a 304 with its status', async () => {
  const authorization = `Bearer ${key}`
  const { etag } = (await logged('/v1/orders', { authorization })).response.headers
  const { entries } = await logged('/v1/orders', { authorization, 'if-none-match': `${etag}` })
  expect(entries).toHaveLength(1)
  expect(entries[0]).toMatchObject({ route: '/v1/orders', status: 304, account_id: 'acc_1' })
})

it('the request log names no account for a request without a valid key', async () => {
  const { entries } = await logged('/v1/orders')
  expect(entries[0]).toMatchObject({ route: '/v1/orders', status: 401 })
  expect(entries[0]).not.toHaveProperty('account_id')
})

it('the request log never writes a key, a cursor, a query value or data of a customer', async () => {
  const first = await app.inject({
    url: '/v1/orders?limit=1',
    headers: { authorization: `Bearer ${key}` },
  })
  const cursor = first.json().next_cursor
  const badKey = generateApiKey()
  const secrets = [key, badKey, cursor, 'query-value', 'rita@exemplo.com.br', 'Rita Lima']

  const calls = [
    await logged(`/v1/orders?limit=1&cursor=${cursor}`, { authorization: `Bearer ${key}` }),
    await logged(`/v1/orders?cursor=${cursor}x`, { authorization: `Bearer ${key}` }),
    await logged(`/v1/orders?status=query-value&key=${key}`, { authorization: `Bearer ${key}` }),
    await logged(`/v1/orders?${key}=1`, { authorization: `Bearer ${key}`, ...STRICT }),
    await logged('/v1/orders/ord_one?rita@exemplo.com.br=1', {
      authorization: `Bearer ${key}`,
      ...STRICT,
    }),
    await logged('/v1/orders/query-value', { authorization: `Bearer ${key}` }),
    await logged('/v1/query-value?a=query-value', { authorization: `Bearer ${badKey}` }),
    await logged(`/${key}`),
  ]
  for (const { text } of calls) {
    expect(text).not.toBe('')
    for (const secret of secrets) expect(text).not.toContain(secret)
  }
})

it.each([
  ['customer_email', 'rita@exemplo.com.br', 'rita rita@exemplo.com.br'],
  ['customer_document', '12345678909', '123456789'],
  ['product_id', 'prod_secret', 'secret_prod'],
  ['paid_gte', '2031-07-09T11:22:33Z', 'on2031-07-09'],
  ['paid_lt', '2031-07-09T11:22:33Z', 'on2031-07-09'],
])('no log, metric or error has a value of %s', async (name, valid, invalid) => {
  const authorization = `Bearer ${key}`
  const accepted = await logged(`/v1/orders?${name}=${valid}`, { authorization })
  const refused = await logged(`/v1/orders?${name}=${encodeURIComponent(invalid)}`, {
    authorization,
  })
  expect([accepted.response.statusCode, refused.response.statusCode]).toEqual([200, 400])
  expect(refused.response.json().error.param).toBe(name)
  const written = [
    accepted.text,
    refused.text,
    refused.response.body,
    await metrics.registry.metrics(),
  ]
  for (const text of written) {
    expect(text).not.toContain(valid)
    expect(text).not.toContain(invalid)
  }
})

it('the error log writes the cause of a 500, whose response has only the request id', async () => {
  const broken = await openTestServices()
  const brokenApp = buildApp(broken.config, broken.services, {
    logger,
    metrics: createMetrics(),
  })
  const issued = await broken.issue()
  await brokenApp.inject({ url: '/v1/orders', headers: { authorization: `Bearer ${issued.key}` } })
  const reason = await broken.breakOrders()

  lines.length = 0
  const headers = { authorization: `Bearer ${issued.key}` }
  const response = await brokenApp.inject({ url: '/v1/orders', headers })
  expect(response.statusCode).toBe(500)
  expect(response.json().error).toMatchObject({ type: 'api_error', code: 'internal_error' })
  expect(response.headers).toMatchObject({
    'ratelimit-limit': expect.any(String),
    'ratelimit-remaining': expect.any(String),
    'ratelimit-reset': expect.any(String),
  })
  expect(response.body).not.toContain(reason)
  expect(lines.join('')).toContain(reason)
  await brokenApp.close()
  await broken.close()
})
