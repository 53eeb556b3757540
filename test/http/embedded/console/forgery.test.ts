import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTestConsole,
  ORIGIN,
  type TestConsole,
} from '../../../support/console/test-console.ts'

let one: TestConsole
let session: string
beforeAll(async () => {
  one = await createTestConsole()
  session = await one.signIn()
})
afterAll(() => one.close())

const CREATE = '/v1/accounts/acc_1/keys'
const TEST_ORDERS = '/v1/accounts/acc_1/sandbox-orders'
const create = (headers: Record<string, string>) =>
  one.call(CREATE, { method: 'POST', session, headers, body: { name: 'forged' } })
const createTestOrder = (headers: Record<string, string>) =>
  one.call(TEST_ORDERS, { method: 'POST', session, headers, body: { scenario: 'trial' } })

describe('a change from another page', () => {
  it.each([
    ['another site', { origin: 'https://evil.example' }],
    ['a page without origin', { origin: 'null' }],
    ['the same host over http', { origin: 'http://painel.example' }],
    ['another port', { origin: `${ORIGIN}:8443` }],
    ['a subdomain', { origin: 'https://x.painel.example' }],
    ['no page', { origin: '' }],
    ['another site by its fetch metadata', { 'sec-fetch-site': 'cross-site' }],
    ['the same site by its fetch metadata', { 'sec-fetch-site': 'same-site' }],
  ])('a change from %s is refused', async (_name, headers) => {
    expect((await create(headers)).status).toBe(403)
    expect(await one.services.keys.list('acc_1')).toEqual([])
    expect((await createTestOrder(headers)).status).toBe(403)
    expect((await one.call(TEST_ORDERS, { session })).json.data).toEqual([])
  })

  it.each(['/v1/session', CREATE, TEST_ORDERS])(
    'a read of %s for another site is refused',
    async (url) => {
      const headers = { 'sec-fetch-site': 'cross-site' }
      expect((await one.call(url, { session, headers })).status).toBe(403)
    },
  )

  it('another site cannot start a session in the browser of a user', async () => {
    const body = { token: await one.createLink() }
    const headers = { origin: 'https://evil.example' }
    const forged = await one.call('/v1/session', { method: 'POST', body, headers })
    expect([forged.status, forged.session]).toEqual([403, undefined])
  })

  it('a form cannot send a change, since only JSON is read', async () => {
    const headers = { 'content-type': 'text/plain' }
    const { status } = await one.call(CREATE, { method: 'POST', session, headers, body: '{}' })
    expect(status).toBe(415)
  })

  it('a response allows no other origin to read it', async () => {
    const { headers } = await one.call(CREATE, { session, headers: { origin: ORIGIN } })
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })
})

it('a body over 16 KiB is refused', async () => {
  const body = { name: 'a'.repeat(17_000) }
  const { status } = await one.call(CREATE, { method: 'POST', session, body })
  expect(status).toBe(413)
})

it('the page itself may change its account', async () => {
  const headers = { 'sec-fetch-site': 'same-origin' }
  expect((await create(headers)).status).toBe(201)
  expect((await createTestOrder(headers)).status).toBe(201)
})
