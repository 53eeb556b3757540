import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatInstant } from '../../src/lib/instant.ts'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'

const CAPACITY = 20

let app: TestApp
beforeAll(async () => {
  app = await createTestApp({
    RATE_LIMIT_CAPACITY: String(CAPACITY),
    RATE_LIMIT_REFILL_PER_SECOND: '1',
  })
})
afterAll(() => app.close())

let accounts = 0
const newAccount = () => `acc_checked_${++accounts}`
const accountOf = (key: string, headers = {}) => app.call('/v1/account', { key, headers })

describe('GET /v1/account', () => {
  it('returns the account, and the id, name, scopes and expiry of the key', async () => {
    const accountId = newAccount()
    const expiresAt = app.clock.nowMs + 86_400_000
    const { key, record } = await app.issue({ accountId, name: 'ERP', expiresAt })
    const { status, json, text } = await accountOf(key)
    expect([status, json]).toEqual([
      200,
      {
        object: 'account',
        id: accountId,
        test: false,
        key: {
          id: record.keyId,
          name: 'ERP',
          scopes: ['orders:read'],
          expires_at: formatInstant(expiresAt),
        },
      },
    ])
    expect(text).not.toContain(key)
    expect(text).not.toContain(record.digest)
  })

  it('returns null for a key without name and expiry', async () => {
    const { key } = await app.issue({ accountId: newAccount(), expiresAt: null })
    expect((await accountOf(key)).json.key).toMatchObject({ name: null, expires_at: null })
  })

  it.each([[], ['orders:read_masked' as const]])(
    'is open to a key with the scopes %j',
    async (...scopes) => {
      const { key } = await app.issue({ accountId: newAccount(), scopes })
      expect(await accountOf(key)).toMatchObject({ status: 200, json: { key: { scopes } } })
    },
  )

  it('returns the live account of a key of a sandbox, and says so', async () => {
    const accountId = newAccount()
    const { key } = await app.issue({ accountId, isTest: true })
    expect((await accountOf(key)).json).toMatchObject({ id: accountId, test: true })
  })

  it('counts as a request of the account, and runs out with the others', async () => {
    const { key } = await app.issue({ accountId: newAccount() })
    const statuses: number[] = []
    for (let at = 0; at < CAPACITY; at++) statuses.push((await accountOf(key)).status)
    expect(statuses).toEqual(Array(CAPACITY).fill(200))
    expect(await app.error('/v1/orders', { key })).toMatchObject({
      status: 429,
      code: 'rate_limited',
    })
    expect(await app.error('/v1/account', { key })).toMatchObject({ status: 429 })
  })

  it('responds 403 for a blocked account, and 401 for a revoked key', async () => {
    const accountId = newAccount()
    const blocked = await app.issue({ accountId })
    await app.services.keys.setAccountBlocked(accountId, true)
    const revoked = await app.issue({ accountId: newAccount() })
    await app.services.keys.update(revoked.record.digest, { revokedAt: app.clock.nowMs })
    expect(await app.error('/v1/account', { key: blocked.key })).toMatchObject({
      status: 403,
      code: 'account_blocked',
    })
    expect(await app.error('/v1/account', { key: revoked.key })).toMatchObject({ status: 401 })
  })

  it('responds 304 for its ETag, and to HEAD without a body', async () => {
    const { key } = await app.issue({ accountId: newAccount() })
    const { headers } = await accountOf(key)
    const again = await accountOf(key, { 'if-none-match': `${headers['etag']}` })
    const head = await app.call('/v1/account', { key, method: 'HEAD' })
    expect([again.status, head.status, head.text]).toEqual([304, 200, ''])
  })

  it('names an unknown parameter, and rejects it under Prefer: handling=strict', async () => {
    const { key } = await app.issue({ accountId: newAccount() })
    const url = '/v1/account?account=acc_2'
    expect((await app.call(url, { key })).headers).toMatchObject({ 'ignored-params': 'account' })
    const strict = { key, headers: { prefer: 'handling=strict' } }
    expect(await app.error(url, strict)).toMatchObject({ status: 400, param: 'account' })
  })
})
