import { hash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestConsole, type TestConsole } from '../../support/console/test-console.ts'

let one: TestConsole
beforeAll(async () => {
  one = await createTestConsole()
})
afterAll(() => one.close())

const CREATE = '/v1/accounts/acc_1/sessions'
const valid = { subject: 'ana', capabilities: ['keys'], ttl_seconds: 600 }

describe('a link', () => {
  it('a link points to the page, with the token in the fragment, for 60 seconds', async () => {
    const { status, json } = await one.platform('POST', CREATE, valid)
    expect(status).toBe(201)
    expect(json.url).toMatch(/^https:\/\/painel\.example\/painel#[\w-]{43}$/)
    expect(Date.parse(json.expires_at) - one.clock.nowMs).toBe(60_000)
  })

  it('a link starts a session of its account, subject and capabilities', async () => {
    const session = await one.signIn({ accountId: 'acc_9', capabilities: ['usage', 'keys'] })
    const { json } = await one.call('/v1/session', { session })
    expect(json).toEqual({
      object: 'session',
      account_id: 'acc_9',
      subject: 'ana',
      capabilities: ['keys', 'usage'],
      expires_at: new Date(one.clock.nowMs + 3_600_000).toISOString(),
    })
  })

  it('a link works once', async () => {
    const token = await one.createLink()
    expect((await one.exchange(token)).status).toBe(204)
    const replayed = await one.exchange(token)
    expect(replayed.status).toBe(401)
    expect(replayed.session).toBeUndefined()
  })

  it('of parallel exchanges of a link, one starts a session', async () => {
    const token = await one.createLink()
    const answers = await Promise.all(Array.from({ length: 20 }, () => one.exchange(token)))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    expect(answers.filter(({ session }) => session !== undefined)).toHaveLength(1)
  })

  it('a link that is older than 60 seconds starts no session', async () => {
    const token = await one.createLink()
    one.clock.nowMs += 60_000
    expect((await one.exchange(token)).status).toBe(401)
  })

  it('a link of an account that is blocked meanwhile starts no session', async () => {
    const token = await one.createLink({ accountId: 'acc_blocked' })
    await one.platform('PUT', '/v1/accounts/acc_blocked/block')
    expect((await one.exchange(token)).status).toBe(401)
  })

  it('an account that is blocked gets no link, until it is unblocked', async () => {
    const [account, block] = ['acc_suspended', '/v1/accounts/acc_suspended/block']
    const create = () => one.platform('POST', `/v1/accounts/${account}/sessions`, valid)
    await one.platform('PUT', block)
    const { status, json } = await create()
    expect([status, json.error.code]).toEqual([409, 'conflict'])
    expect(json.error.message).toContain('A conta está bloqueada')
    await one.platform('DELETE', block)
    expect((await create()).status).toBe(201)
  })

  it.each([
    ['subject', { ...valid, subject: '' }],
    ['subject', { ...valid, subject: 'a\nb' }],
    ['subject', { ...valid, subject: 'a'.repeat(101) }],
    ['subject', { capabilities: ['keys'] }],
    ['capabilities', { ...valid, capabilities: [] }],
    ['capabilities', { ...valid, capabilities: ['keys', 'audit'] }],
    ['capabilities', { ...valid, capabilities: 'keys' }],
    ['ttl_seconds', { ...valid, ttl_seconds: 59 }],
    ['ttl_seconds', { ...valid, ttl_seconds: 43_201 }],
    ['ttl_seconds', { ...valid, ttl_seconds: 60.5 }],
    ['role', { ...valid, role: 'admin' }],
  ])('a link with a wrong %s is refused: %j', async (param, body) => {
    const { status, json } = await one.platform('POST', CREATE, body)
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', param])
  })

  it('a link with an unknown capability is refused with those that exist', async () => {
    const { json } = await one.platform('POST', CREATE, { ...valid, capabilities: ['key'] })
    expect(json.error.message).toBe(
      'Envie em capabilities uma lista com um ou mais destes: keys, webhooks, usage, orders.',
    )
  })

  it('a service without a console refuses to create links', async () => {
    const none = await createTestConsole({ consoleUrl: null })
    const { status, json } = await none.platform('POST', CREATE, valid)
    await none.close()
    expect(status).toBe(400)
    expect(json.error.message).toContain('CONSOLE_PORT')
  })
})

describe('a session', () => {
  it('the cookie of a session is for this host alone, and scripts cannot read it', async () => {
    const { headers } = await one.exchange(await one.createLink({ ttlSeconds: 600 }))
    expect(headers['set-cookie']).toMatch(
      /^__Host-console_session=[\w-]{43}; Max-Age=600; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    )
  })

  it('an exchange never adopts a session that the browser already has', async () => {
    const chosen = 'x'.repeat(43)
    const body = { token: await one.createLink() }
    const { session } = await one.call('/v1/session', { method: 'POST', session: chosen, body })
    expect(session).not.toBe(chosen)
    expect((await one.call('/v1/session', { session: chosen })).status).toBe(401)
    expect((await one.call('/v1/session', { session: session ?? '' })).status).toBe(200)
  })

  it('the token of a link is no session, and a session is no token of a link', async () => {
    const token = await one.createLink()
    expect((await one.call('/v1/session', { session: token })).status).toBe(401)
    const session = await one.signIn()
    expect((await one.exchange(session)).status).toBe(401)
  })

  it('the store finds a session by the digest of its secret only', async () => {
    const session = await one.signIn()
    const { sessions } = one.services.managementStores
    expect(await sessions.find(session)).toBeNull()
    expect(await sessions.find(hash('sha256', session))).toMatchObject({ accountId: 'acc_1' })
  })

  it('a session ends after its life', async () => {
    const session = await one.signIn({ ttlSeconds: 60 })
    one.clock.nowMs += 59_999
    expect((await one.call('/v1/session', { session })).status).toBe(200)
    one.clock.nowMs += 1
    expect((await one.call('/v1/session', { session })).status).toBe(401)
  })

  it('a session that its user ended works no longer, and its cookie is removed', async () => {
    const session = await one.signIn()
    const ended = await one.call('/v1/session', { method: 'DELETE', session })
    expect(ended.status).toBe(204)
    expect(ended.headers['set-cookie']).toMatch(/^__Host-console_session=; Max-Age=0; /)
    expect((await one.call('/v1/session', { session })).status).toBe(401)
  })

  it('the sessions of an account end within 5 seconds after it is blocked', async () => {
    const session = await one.signIn({ accountId: 'acc_2' })
    const keys = () => one.call('/v1/accounts/acc_2/keys', { session })
    expect((await keys()).status).toBe(200)
    await one.platform('PUT', '/v1/accounts/acc_2/block')
    one.clock.nowMs += 5_000
    expect((await keys()).status).toBe(401)
  })

  it('the sessions and links of an account that was blocked stay ended once it is unblocked', async () => {
    const session = await one.signIn({ accountId: 'acc_3' })
    const token = await one.createLink({ accountId: 'acc_3' })
    await one.platform('PUT', '/v1/accounts/acc_3/block')
    await one.platform('DELETE', '/v1/accounts/acc_3/block')
    one.clock.nowMs += 5_000
    expect((await one.call('/v1/session', { session })).status).toBe(401)
    expect((await one.exchange(token)).status).toBe(401)
  })

  it('two cookies of a session are refused, since one may be planted', async () => {
    const session = await one.signIn()
    const cookie = `__Host-console_session=${session}; __Host-console_session=${'x'.repeat(43)}`
    expect((await one.call('/v1/session', { headers: { cookie } })).status).toBe(401)
  })
})
