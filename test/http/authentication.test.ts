import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/auth/api-key.ts'
import { HOUR_MS } from '../../src/lib/durations.ts'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'

let app: TestApp
let key: string
let revokedKey: string
let expiredKey: string
let blockedKey: string
let powerlessKey: string

beforeAll(async () => {
  app = await createTestApp()
  key = (await app.issue()).key
  const revoked = await app.issue()
  await app.services.keys.update(revoked.record.digest, { revokedAt: Date.now() })
  revokedKey = revoked.key
  expiredKey = (await app.issue({ expiresAt: app.clock.nowMs })).key
  await app.services.keys.setAccountBlocked('acc_blocked', true)
  blockedKey = (await app.issue({ accountId: 'acc_blocked' })).key
  powerlessKey = (await app.issue({ scopes: [] })).key
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
 * Authorization headers without a valid key, as functions because the keys do not exist yet at
 * collection.
 */
const failures: [string, () => Record<string, string>][] = [
  ['no header', () => ({})],
  ['an empty header', () => ({ authorization: '' })],
  ['the key alone', () => ({ authorization: key })],
  ['another scheme', () => ({ authorization: `Basic ${key}` })],
  ['no key', () => ({ authorization: 'Bearer ' })],
  ['two spaces', () => ({ authorization: `Bearer  ${key}` })],
  ['something after the key', () => ({ authorization: `Bearer ${key} x` })],
  ['a malformed key', () => ({ authorization: 'Bearer key_live_short' })],
  ['a key in another case', () => ({ authorization: `Bearer ${key.toUpperCase()}` })],
  ['a wrong checksum', () => ({ authorization: `Bearer ${key.slice(0, -1)}_` })],
  ['an unknown key', () => ({ authorization: `Bearer ${generateApiKey()}` })],
  ['a revoked key', () => ({ authorization: `Bearer ${revokedKey}` })],
  ['an expired key', () => ({ authorization: `Bearer ${expiredKey}` })],
]

let address = 0
const nextAddress = () => `10.1.${Math.floor(++address / 250)}.${address % 250}`

describe.each(routes)('authentication on %s', (route) => {
  it.each(failures)('returns 401 invalid_api_key for %s', async (_name, headers) => {
    const error = await app.error(route, { headers: headers(), from: nextAddress() })
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
    const error = await app.error(route, { key: blockedKey })
    expect(error).toMatchObject({ status: 403, type: 'permission_error', code: 'account_blocked' })
    expect(error.headers).toHaveProperty('ratelimit-limit')
  })

  it('returns 403 insufficient_access for a key without the scope', async () => {
    const error = await app.error(route, { key: powerlessKey })
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
    expect((await app.error('/v1/nope', { key: powerlessKey })).code).toBe('insufficient_access')
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
    expect(await lastValid()).toBe(first) // Before any page was read.
    app.clock.nowMs += HOUR_MS - 1
    await app.call('/v1/orders', { key: used })
    expect(await lastValid()).toBe(first)
    app.clock.nowMs += 1
    await app.call('/v1/orders', { key: used })
    await expect.poll(lastValid).toBe(first + HOUR_MS) // The request does not wait for this write.
  })
})
