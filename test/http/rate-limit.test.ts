import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/auth/api-key.ts'
import { DAY_MS, HOUR_MS } from '../../src/lib/durations.ts'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'

/** The app with the limits of the contract. */
let app: TestApp
/** The same, with a refill so slow that few attempts of a test meet one between their requests. */
let slowlyRefilled: TestApp
/** The same behind a trusted proxy. */
let behindProxy: TestApp
beforeAll(async () => {
  app = await createTestApp({})
  slowlyRefilled = await createTestApp({ RATE_LIMIT_REFILL_PER_SECOND: '1' })
  behindProxy = await createTestApp({ TRUST_PROXY: '10.0.0.0/8' })
})
afterAll(() => Promise.all([app, slowlyRefilled, behindProxy].map((opened) => opened.close())))

// Each test has an account and addresses of its own, because the tests share the apps.
const issue = () => app.issue({ accountId: randomUUID() })
let addresses = 0
const nextAddress = () => `10.0.${++addresses}.1`

/** The number of responses by status. */
function statuses(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('the rate limit of an account', () => {
  it('allows exactly 20 of 200 parallel requests, plus the refill of the elapsed time', async () => {
    const { key } = await issue()
    const startedAt = performance.now()
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => app.call('/v1/orders', { key })),
    )
    const refilled = Math.ceil((performance.now() - startedAt) / 100)

    const { 200: passed = 0, 429: limited = 0 } = statuses(answers)
    expect(passed + limited).toBe(200)
    expect(passed).toBeGreaterThanOrEqual(20)
    expect(passed).toBeLessThanOrEqual(20 + refilled)
  })

  it('reports capacity, remaining requests and the reset time', async () => {
    const { key } = await issue()
    const { headers } = await app.call('/v1/orders', { key })
    expect(headers).toMatchObject({
      'ratelimit-limit': '20',
      'ratelimit-remaining': '19',
      'ratelimit-reset': '1',
    })
  })

  it('returns 429 rate_limited with Retry-After and the limits of the account', async () => {
    const { key } = await issue()
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => app.call('/v1/orders', { key })),
    )
    const limited = answers.filter(({ status }) => status === 429).at(-1)
    expect(limited?.json).toMatchObject({
      error: { type: 'rate_limit_error', code: 'rate_limited' },
    })
    expect(limited?.headers).toMatchObject({
      'retry-after': '1',
      'ratelimit-limit': '20',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '2',
    })
  })

  it('the rate limit of an account is shared by all keys and routes of an account, and separate for another account', async () => {
    const remaining = async (key: string, url: string) =>
      (await slowlyRefilled.call(url, { key })).headers['ratelimit-remaining']

    async function remainingOfAttempt() {
      const [accountId, otherId] = [randomUUID(), randomUUID()]
      const one = await slowlyRefilled.issue({ accountId })
      const two = await slowlyRefilled.issue({ accountId })
      const other = await slowlyRefilled.issue({ accountId: otherId })
      return [
        await remaining(one.key, '/v1/orders'),
        await remaining(two.key, '/v1/orders/ord_x'),
        await remaining(two.key, '/v1/nope'),
        await remaining(other.key, '/v1/orders'),
      ]
    }
    await expect.poll(remainingOfAttempt).toEqual(['19', '18', '17', '19'])
  })

  it('the rate limit of an account also counts responses with 400, 403 and 404', async () => {
    async function remainingOfAttempt() {
      const { key } = await slowlyRefilled.issue({ accountId: randomUUID() })
      await slowlyRefilled.call('/v1/orders?limit=0', { key })
      await slowlyRefilled.call('/v1/nope', { key })
      const { headers } = await slowlyRefilled.call('/v1/orders', { key })
      return headers['ratelimit-remaining']
    }
    await expect.poll(remainingOfAttempt).toBe('17')
  })
})

describe('the block of an address', () => {
  const badKeys = (count: number, from: string) =>
    Promise.all(
      Array.from({ length: count }, () => app.call('/v1/orders', { key: generateApiKey(), from })),
    )

  it('returns 401 for exactly 30 of 200 parallel invalid keys, and 429 for 170', async () => {
    expect(statuses(await badKeys(200, nextAddress()))).toEqual({ 401: 30, 429: 170 })
  })

  it('returns 429 rate_limited with the remaining time, and without the limits of any account', async () => {
    const from = nextAddress()
    await badKeys(30, from)
    const error = await app.error('/v1/orders', { from })
    expect(error).toMatchObject({ status: 429, type: 'rate_limit_error', code: 'rate_limited' })
    expect(Number(error.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(Number(error.headers['retry-after'])).toBeLessThanOrEqual(60)
    expect(error.message).toMatch(new RegExp(` em ${error.headers['retry-after']} s\\.$`))
    expect(error.headers).not.toHaveProperty('ratelimit-limit')
  })

  it('the block of an address does not affect another address', async () => {
    const [from, other] = [nextAddress(), nextAddress()]
    await badKeys(30, from)
    expect((await app.call('/v1/orders', { from: other })).status).toBe(401)
  })

  it('counts an IPv6 network of 64 bits as one address', async () => {
    for (let host = 1; host <= 30; host++) await badKeys(1, `2001:db8:1:1::${host}`)
    expect((await app.call('/v1/orders', { from: '2001:db8:1:1:ffff::1' })).status).toBe(429)
    expect((await app.call('/v1/orders', { from: '2001:db8:1:2::1' })).status).toBe(401)
  })

  it('counts an IPv4 address and its mapped form as one', async () => {
    const from = nextAddress()
    await badKeys(30, `::ffff:${from}`)
    expect((await app.call('/v1/orders', { from })).status).toBe(429)
  })

  it('rejects a valid key that was never used', async () => {
    const [from, other] = [nextAddress(), nextAddress()]
    await badKeys(30, from)
    const { key } = await issue()
    expect((await app.call('/v1/orders', { key, from })).status).toBe(429)
    expect((await app.call('/v1/orders', { key, from: other })).status).toBe(200)
  })

  it('allows a key that authenticated within the last 24 hours', async () => {
    const [from, other] = [nextAddress(), nextAddress()]
    const { key } = await issue()
    await app.call('/v1/orders', { key, from: other })
    await badKeys(30, from)
    expect((await app.call('/v1/orders', { key, from })).status).toBe(200)
  })

  it.each([
    ['24 hours, plus the interval of its record', DAY_MS + HOUR_MS / 2, 200],
    ['longer ago', DAY_MS + HOUR_MS + 1_000, 429],
  ])('depends on the age of the last use: %s', async (_name, agoMs, expected) => {
    const from = nextAddress()
    const { key, record } = await issue()
    await app.services.keys.update(record.digest, { lastValidAt: app.clock.nowMs - agoMs })
    await badKeys(30, from)
    expect((await app.call('/v1/orders', { key, from })).status).toBe(expected)
  })

  it('exempts no invalid key: a revoked key that was used today counts', async () => {
    const from = nextAddress()
    const { key, record } = await issue()
    const now = Date.now()
    await app.services.keys.update(record.digest, { lastValidAt: now, revokedAt: now })
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => app.call('/v1/orders', { key, from })),
    )
    expect(statuses(answers)).toEqual({ 401: 30, 429: 10 })
  })
})

describe('the address of a client', () => {
  it('ignores X-Forwarded-For unless the proxy is trusted', async () => {
    const from = nextAddress()
    for (let attempt = 0; attempt < 30; attempt++) {
      const headers = { 'x-forwarded-for': `192.0.2.${attempt}` }
      await app.call('/v1/orders', { from, headers })
    }
    expect((await app.call('/v1/orders', { from })).status).toBe(429)
  })

  it('the address of a client is the one that a trusted proxy sends', async () => {
    for (let attempt = 0; attempt < 31; attempt++) {
      const headers = { 'x-forwarded-for': `192.0.2.${attempt}` }
      const { status } = await behindProxy.call('/v1/orders', { from: '10.0.0.1', headers })
      expect(status).toBe(401)
    }
  })

  it('counts clients behind a second proxy separately when it is reported with its port', async () => {
    for (let attempt = 0; attempt < 31; attempt++) {
      const headers = { 'x-forwarded-for': `198.51.100.${attempt}, 10.0.0.7:${52_300 + attempt}` }
      const { status } = await behindProxy.call('/v1/orders', { from: '10.0.0.1', headers })
      expect(status).toBe(401)
    }
  })

  it('counts the address that the proxy adds, whatever a client sends before it', async () => {
    const answers: { status: number }[] = []
    for (let attempt = 0; attempt < 31; attempt++) {
      const sent = `198.51.100.${100 + attempt}, 10.0.0.7:52311`
      const headers = { 'x-forwarded-for': `${sent}, 203.0.113.9:${40_000 + attempt}` }
      answers.push(await behindProxy.call('/v1/orders', { from: '10.0.0.1', headers }))
    }
    expect(statuses(answers)).toEqual({ 401: 30, 429: 1 })
  })
})
