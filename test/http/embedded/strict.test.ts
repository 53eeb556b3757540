import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateApiKey } from '../../../src/auth/api-key.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

const STRICT = { prefer: 'handling=strict' }
const APPLIED = { 'preference-applied': 'handling=strict' }

let app: TestApp
let key: string
beforeAll(async () => {
  app = await createTestApp()
  key = (await app.issue()).key
  await app.load([sourceOrder({ id: 'ord_there' })])
})
afterAll(() => app.close())

const strict = (url: string, prefer = STRICT.prefer) => app.error(url, { key, headers: { prefer } })

describe('GET /v1/orders with Prefer: handling=strict', () => {
  it('rejects an unknown parameter and names it', async () => {
    const { status, code, param, headers } = await strict('/v1/orders?status=PAID&statuss=PAID')
    expect([status, code, param]).toEqual([400, 'invalid_request', 'statuss'])
    expect(headers).toMatchObject(APPLIED)
    expect(headers).not.toHaveProperty('ignored-params')
  })

  it('suggests the nearest parameter and lists the supported ones', async () => {
    expect((await strict('/v1/orders?createdGte=x')).message).toBe(
      'Parâmetro desconhecido. Você quis dizer created_gte? Parâmetros aceitos: limit, cursor, status, payment_method, created_gte, created_lt, updated_gte, updated_lt, include_undated, paid_gte, paid_lt, product_id, customer_email, customer_document, sort. Corrija o nome ou retire o parâmetro; sem "Prefer: handling=strict" ele é ignorado.',
    )
    expect((await strict('/v1/orders?foo=x')).message).toMatch(
      /^Parâmetro desconhecido\. Parâmetros aceitos: limit, /,
    )
  })

  it('returns the usual page when every parameter is known', async () => {
    const { status, headers } = await app.call('/v1/orders?limit=1', { key, headers: STRICT })
    expect(status).toBe(200)
    expect(headers).toMatchObject(APPLIED)
  })

  it('rejects an invalid value as without the preference', async () => {
    const { param, headers } = await strict('/v1/orders?limit=0')
    expect(param).toBe('limit')
    expect(headers).toMatchObject(APPLIED)
  })

  it('returns 304 for a matching ETag', async () => {
    const headers = { ...STRICT, 'if-none-match': '*' }
    const answer = await app.call('/v1/orders', { key, headers })
    expect(answer.status).toBe(304)
    expect(answer.headers).toMatchObject(APPLIED)
  })

  it('rejects an unknown parameter on HEAD too', async () => {
    const call = { key, method: 'HEAD', headers: STRICT } as const
    expect((await app.call('/v1/orders?foo=1', call)).status).toBe(400)
  })
})

describe('GET /v1/orders/{id} with Prefer: handling=strict', () => {
  it('rejects any parameter, and suggests none', async () => {
    const { status, param, message } = await strict('/v1/orders/ord_there?limit=1')
    expect([status, param]).toEqual([400, 'limit'])
    expect(message).toBe(
      'Parâmetro desconhecido. Esta rota não aceita parâmetros de consulta. Corrija o nome ou retire o parâmetro; sem "Prefer: handling=strict" ele é ignorado.',
    )
  })

  it('returns the order when there is no parameter', async () => {
    const { status, headers } = await app.call('/v1/orders/ord_there', { key, headers: STRICT })
    expect(status).toBe(200)
    expect(headers).toMatchObject(APPLIED)
  })

  it('sends Preference-Applied with the 404 of a missing order', async () => {
    const { status, headers } = await strict('/v1/orders/ord_missing')
    expect(status).toBe(404)
    expect(headers).toMatchObject(APPLIED)
  })
})

describe('the name of an unknown parameter', () => {
  it.each<[string, string]>([
    ['', ''],
    ['a%20b', 'a b'],
    ['%3Cscript%3E', '<script>'],
    ['%22%2C%22code%22%3A%22', '","code":"'],
    ['%0d%0aX-Injected%3A%201', '\r\nX-Injected: 1'],
    ['__proto__', '__proto__'],
    ['%00', '\0'],
    ['status%00', 'status\0'],
    ['a'.repeat(5_000), 'a'.repeat(64)],
    [`${'a'.repeat(63)}%F0%9F%98%80`, `${'a'.repeat(63)}\ufffd`],
  ])(
    'the unknown parameter %j is returned as text, truncated to 64 characters',
    async (name, param) => {
      const error = await strict(`/v1/orders?${name}=1`)
      expect([error.status, error.param]).toEqual([400, param])
      expect(error.headers).not.toHaveProperty('x-injected')
      if (param.length > 3) expect(error.message).not.toContain(param)
    },
  )
})

describe('the order of strict handling', () => {
  const url = '/v1/orders?foo=1'

  it('strict handling runs after authentication of the key', async () => {
    const { status, headers } = await app.error(url, { key: generateApiKey(), headers: STRICT })
    expect(status).toBe(401)
    expect(headers).not.toHaveProperty('preference-applied')
  })

  it('strict handling runs after the rate limit', async () => {
    const small = await createTestApp({
      RATE_LIMIT_CAPACITY: '1',
      RATE_LIMIT_REFILL_PER_SECOND: '1',
    })
    const apiKey = (await small.issue()).key
    const statuses: number[] = []
    while (!statuses.includes(429))
      statuses.push((await small.call(url, { key: apiKey, headers: STRICT })).status)
    await small.close()
    expect(statuses[0]).toBe(400)
  })

  it('strict handling runs after the block of the account', async () => {
    const blocked = await app.issue({ accountId: 'acc_blocked' })
    await app.services.keys.setAccountBlocked('acc_blocked', true)
    expect((await app.error(url, { key: blocked.key, headers: STRICT })).code).toBe(
      'account_blocked',
    )
  })

  it('strict handling runs after the scope check', async () => {
    const { key: scopeless } = await app.issue({ scopes: [] })
    expect((await app.error(url, { key: scopeless, headers: STRICT })).status).toBe(403)
  })

  it('strict handling runs after route matching', async () => {
    const { status, headers } = await strict('/v1/nope?foo=1')
    expect(status).toBe(404)
    expect(headers).not.toHaveProperty('preference-applied')
  })
})

describe('any other preference', () => {
  it.each(['handling=lenient', 'handling=lenient, handling=strict', 'respond-async', '"', ''])(
    'keeps the parameter ignored, without Preference-Applied: %s',
    async (prefer) => {
      const call = { key, headers: { prefer } }
      const { status, headers } = await app.call('/v1/orders?statuss=1', call)
      expect(status).toBe(200)
      expect(headers['ignored-params']).toBe('statuss;did-you-mean=status')
      expect(headers).not.toHaveProperty('preference-applied')
    },
  )
})
