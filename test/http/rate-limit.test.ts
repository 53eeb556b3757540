import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/auth/api-key.ts'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

const opened: TestApp[] = []
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close()
})

async function appWithLimits(env: Record<string, string>) {
  const app = await createTestApp(env)
  opened.push(app)
  return app
}

const appWithContractLimits = () => appWithLimits({})

/** A refill so slow that few attempts of a test meet one between their requests. */
const SLOW_REFILL = { RATE_LIMIT_REFILL_PER_SECOND: '1' }

/** The number of responses by status. */
function statuses(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('the rate limit of an account', () => {
  it('allows exactly 20 of 200 parallel requests, plus the refill of the elapsed time', async () => {
    const app = await appWithContractLimits()
    const { key } = await app.issue()
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
    const app = await appWithContractLimits()
    const { key } = await app.issue()
    const { headers } = await app.call('/v1/orders', { key })
    expect(headers).toMatchObject({
      'ratelimit-limit': '20',
      'ratelimit-remaining': '19',
      'ratelimit-reset': '1',
    })
  })

  it('returns 429 rate_limited with Retry-After and the limits of the account', async () => {
    const app = await appWithContractLimits()
    const { key } = await app.issue()
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
    const app = await appWithLimits(SLOW_REFILL)
    const remaining = async (key: string, url: string) =>
      (await app.call(url, { key })).headers['ratelimit-remaining']

    async function remainingOfAttempt() {
      const [accountId, otherId] = [randomUUID(), randomUUID()]
      const one = await app.issue({ accountId })
      const two = await app.issue({ accountId })
      const other = await app.issue({ accountId: otherId })
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
    const app = await appWithLimits(SLOW_REFILL)
    async function remainingOfAttempt() {
      const { key } = await app.issue({ accountId: randomUUID() })
      await app.call('/v1/orders?limit=0', { key })
      await app.call('/v1/nope', { key })
      const { headers } = await app.call('/v1/orders', { key })
      return headers['ratelimit-remaining']
    }
    await expect.poll(remainingOfAttempt).toBe('17')
  })
})

describe('the block of an address', () => {
  const badKeys = (app: TestApp, count: number, from: string) =>
    Promise.all(
      Array.from({ length: count }, () => app.call('/v1/orders', { key: generateApiKey(), from })),
    )

  it('returns 401 for exactly 30 of 200 parallel invalid keys, and 429 for 170', async () => {
    const app = await appWithContractLimits()
    expect(statuses(await badKeys(app, 200, '10.0.0.1'))).toEqual({ 401: 30, 429: 170 })
  })

  it('returns 429 rate_limited with the remaining time, and without the limits of any account', async () => {
    const app = await appWithContractLimits()
    await badKeys(app, 30, '10.0.0.1')
    const error = await app.error('/v1/orders', { from: '10.0.0.1' })
    expect(error).toMatchObject({ status: 429, type: 'rate_limit_error', code: 'rate_limited' })
    expect(Number(error.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(Number(error.headers['retry-after'])).toBeLessThanOrEqual(60)
    expect(error.headers).not.toHaveProperty('ratelimit-limit')
  })

  it('the block of an address does not affect another address', async () => {
    const app = await appWithContractLimits()
    await badKeys(app, 30, '10.0.0.1')
    expect((await app.call('/v1/orders', { from: '10.0.0.2' })).status).toBe(401)
  })

  it('counts an IPv6 network of 64 bits as one address', async () => {
    const app = await appWithContractLimits()
    for (let host = 1; host <= 30; host++) await badKeys(app, 1, `2001:db8:1:1::${host}`)
    expect((await app.call('/v1/orders', { from: '2001:db8:1:1:ffff::1' })).status).toBe(429)
    expect((await app.call('/v1/orders', { from: '2001:db8:1:2::1' })).status).toBe(401)
  })

  it('counts an IPv4 address and its mapped form as one', async () => {
    const app = await appWithContractLimits()
    await badKeys(app, 30, '::ffff:10.0.0.1')
    expect((await app.call('/v1/orders', { from: '10.0.0.1' })).status).toBe(429)
  })

  it('rejects a valid key that was never used', async () => {
    const app = await appWithContractLimits()
    await badKeys(app, 30, '10.0.0.1')
    const { key } = await app.issue()
    expect((await app.call('/v1/orders', { key, from: '10.0.0.1' })).status).toBe(429)
    expect((await app.call('/v1/orders', { key, from: '10.0.0.2' })).status).toBe(200)
  })

  it('allows a key that authenticated within the last 24 hours', async () => {
    const app = await appWithContractLimits()
    const { key } = await app.issue()
    await app.call('/v1/orders', { key, from: '10.0.0.2' })
    await badKeys(app, 30, '10.0.0.1')
    expect((await app.call('/v1/orders', { key, from: '10.0.0.1' })).status).toBe(200)
  })

  it.each([
    ['24 hours, plus the interval of its record', DAY_MS + HOUR_MS / 2, 200],
    ['longer ago', DAY_MS + HOUR_MS + 1_000, 429],
  ])('depends on the age of the last use: %s', async (_name, agoMs, expected) => {
    const app = await appWithContractLimits()
    const { key, record } = await app.issue()
    await app.services.keys.update(record.digest, { lastValidAt: Date.now() - agoMs })
    await badKeys(app, 30, '10.0.0.1')
    expect((await app.call('/v1/orders', { key, from: '10.0.0.1' })).status).toBe(expected)
  })

  it('exempts no invalid key: a revoked key that was used today counts', async () => {
    const app = await appWithContractLimits()
    const { key, record } = await app.issue()
    const now = Date.now()
    await app.services.keys.update(record.digest, { lastValidAt: now, revokedAt: now })
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => app.call('/v1/orders', { key, from: '10.0.0.1' })),
    )
    expect(statuses(answers)).toEqual({ 401: 30, 429: 10 })
  })
})

describe('the address of a client', () => {
  it('ignores X-Forwarded-For unless the proxy is trusted', async () => {
    const app = await appWithContractLimits()
    for (let attempt = 0; attempt < 30; attempt++) {
      const headers = { 'x-forwarded-for': `192.0.2.${attempt}` }
      await app.call('/v1/orders', { from: '10.0.0.1', headers })
    }
    expect((await app.call('/v1/orders', { from: '10.0.0.1' })).status).toBe(429)
  })

  it('the address of a client is the one that a trusted proxy sends', async () => {
    const app = await createTestApp({ TRUST_PROXY: '10.0.0.0/8' })
    opened.push(app)
    for (let attempt = 0; attempt < 31; attempt++) {
      const headers = { 'x-forwarded-for': `192.0.2.${attempt}` }
      const { status } = await app.call('/v1/orders', { from: '10.0.0.1', headers })
      expect(status).toBe(401)
    }
  })
})
