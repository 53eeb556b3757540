import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/auth/api-key.ts'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'

const HOUR_MS = 3_600_000

let app: TestApp
let key: string

beforeAll(async () => {
  app = await createTestApp()
  key = (await app.issue()).key
})
afterAll(() => app.close())

const routes = [
  '/v1/orders',
  '/v1/orders/ord_1',
  '/v1/orders/',
  '/v1/account/',
  '/v1/nothing-here',
  '/v1',
]

/**
 * Authorization headers without a valid key, as functions because the key does not exist yet at
 * collection.
 */
const failures: [string, () => Promise<Record<string, string>>][] = [
  ['no header', async () => ({})],
  ['an empty header', async () => ({ authorization: '' })],
  ['the key alone', async () => ({ authorization: key })],
  ['another scheme', async () => ({ authorization: `Basic ${key}` })],
  ['no key', async () => ({ authorization: 'Bearer ' })],
  ['two spaces', async () => ({ authorization: `Bearer  ${key}` })],
  ['something after the key', async () => ({ authorization: `Bearer ${key} x` })],
  ['a malformed key', async () => ({ authorization: 'Bearer key_live_short' })],
  ['a key in another case', async () => ({ authorization: `Bearer ${key.toUpperCase()}` })],
  ['a wrong checksum', async () => ({ authorization: `Bearer ${key.slice(0, -1)}_` })],
  ['an unknown key', async () => ({ authorization: `Bearer ${generateApiKey()}` })],
  ['a revoked key', async () => ({ authorization: `Bearer ${await revokedKey()}` })],
  ['an expired key', async () => ({ authorization: `Bearer ${await expiredKey()}` })],
]

async function revokedKey() {
  const issued = await app.issue()
  await app.services.keys.update(issued.record.digest, { revokedAt: Date.now() })
  return issued.key
}

async function expiredKey() {
  return (await app.issue({ expiresAt: app.clock.nowMs })).key
}

let address = 0
const nextAddress = () => `10.1.${Math.floor(++address / 250)}.${address % 250}`

describe.each(routes)('authentication on %s', (route) => {
  it.each(failures)('returns 401 invalid_api_key for %s', async (_name, headers) => {
    const error = await app.error(route, { headers: await headers(), from: nextAddress() })
    expect(error).toMatchObject({
      status: 401,
      type: 'authentication_error',
      code: 'invalid_api_key',
    })
    expect(error.headers).not.toHaveProperty('ratelimit-limit')
    expect(error.headers['www-authenticate']).toBe('Bearer')
  })

  it('accepts the scheme in any case', async () => {
    const { status } = await app.call(route, { headers: { authorization: `bEaReR ${key}` } })
    expect(status).not.toBe(401)
  })

  it('returns 403 account_blocked when the account of the key is blocked', async () => {
    const accountId = `acc_blocked_${routes.indexOf(route)}`
    await app.services.keys.setAccountBlocked(accountId, true)
    const blocked = await app.issue({ accountId })
    const error = await app.error(route, { key: blocked.key })
    expect(error).toMatchObject({ status: 403, type: 'permission_error', code: 'account_blocked' })
    expect(error.headers).toHaveProperty('ratelimit-limit')
  })

  it('returns 403 insufficient_access for a key without the scope', async () => {
    const { key: powerless } = await app.issue({ scopes: [] })
    const error = await app.error(route, { key: powerless })
    expect(error).toMatchObject({ status: 403, code: 'insufficient_access' })
    expect(error.headers).toHaveProperty('ratelimit-limit')
  })
})

describe('authentication order', () => {
  it('validates the key before the parameters', async () => {
    const { status } = await app.call('/v1/orders?limit=0', { from: nextAddress() })
    expect(status).toBe(401)
  })

  it('checks the account before the scope', async () => {
    await app.services.keys.setAccountBlocked('acc_both', true)
    const both = await app.issue({ accountId: 'acc_both', scopes: [] })
    expect((await app.error('/v1/orders?limit=0', { key: both.key })).code).toBe('account_blocked')
  })

  it('checks the scope before the route', async () => {
    const { key: powerless } = await app.issue({ scopes: [] })
    expect((await app.error('/v1/nope', { key: powerless })).code).toBe('insufficient_access')
  })

  it('the service never reads a key from the query string', async () => {
    const { status } = await app.call(`/v1/orders?api_key=${key}&key=${key}&access_token=${key}`, {
      from: nextAddress(),
    })
    expect(status).toBe(401)
  })
})

describe('a key over time', () => {
  it('a key is valid until its expiry time, exclusive', async () => {
    const { key: dying } = await app.issue({ expiresAt: app.clock.nowMs + HOUR_MS })
    const status = async () => (await app.call('/v1/orders', { key: dying })).status
    app.clock.nowMs += HOUR_MS - 1
    expect(await status()).toBe(200)
    app.clock.nowMs += 1
    expect(await status()).toBe(401)
  })

  it('the last use of a key is stored once an hour, however many requests arrive at once', async () => {
    const { key: used, record } = await app.issue({ accountId: 'acc_seen' })
    const lastValid = async () => (await app.services.keys.find(record.digest))?.key.lastValidAt
    const first = app.clock.nowMs

    await Promise.all(Array.from({ length: 50 }, () => app.call('/v1/orders', { key: used })))
    await expect.poll(lastValid).toBe(first) // The request does not wait for this write.
    app.clock.nowMs += HOUR_MS - 1
    await app.call('/v1/orders', { key: used })
    expect(await lastValid()).toBe(first)
    app.clock.nowMs += 1
    await app.call('/v1/orders', { key: used })
    await expect.poll(lastValid).toBe(first + HOUR_MS)
  })
})
