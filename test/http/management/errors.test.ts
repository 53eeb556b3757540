import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { RESOURCE_NOT_FOUND_MESSAGE } from '../../../src/http/api-error.ts'
import { sendRaw } from '../../support/http/raw-http.ts'
import { ADMIN } from '../../support/management/build-management.ts'
import { useManagementApi } from '../../support/management/management-api.ts'
import { changes, posts } from '../../support/management/routes.ts'

const test = useManagementApi()

const KEYS = '/accounts/acc_1/keys'
const JSON_CONTENT = { 'content-type': 'application/json' }
/** The required fields of a body, by the end of its path. */
const REQUIRED: Record<string, object> = {
  'webhook-endpoints': { url: 'https://receiver.example/hooks' },
  replay: { since: '2026-03-01T12:00:00Z' },
  sessions: { subject: 'ana', capabilities: ['keys'] },
  'sandbox-orders': { scenario: 'card_paid' },
}
/** The line of a request with this id is longer than OpenSearch accepts. */
const LONG_ID = 'x'.repeat(5_000)
const REQUEST_ID = expect.stringMatching(/^req_[0-9a-f]{32}$/)
const error = (status: number, code: string, param?: string) => ({
  status,
  headers: { 'request-id': REQUEST_ID, 'content-type': 'application/json; charset=utf-8' },
  json: {
    error: {
      code,
      message: expect.stringMatching(/\p{L}/u),
      request_id: REQUEST_ID,
      ...(param !== undefined && { param }),
    },
  },
})

describe('a body of the management API', () => {
  it.each([
    ['malformed JSON', '{"name":', 400],
    ['a prototype', '{"__proto__":{"name":"x"}}', 400],
    ['a list', '[]', 400],
    ['a text', '"name"', 400],
  ])('is refused with a sentence: %s', async (_what, body, status) => {
    const response = await test.api.call('POST', KEYS, { headers: JSON_CONTENT, body })
    expect(response).toMatchObject(error(status, 'invalid_request'))
  })

  it('over 64 KiB is refused with the limit and what to do', async () => {
    const response = await test.api.post(KEYS, { name: 'x'.repeat(64 * 1_024) })
    expect(response).toMatchObject(error(413, 'invalid_request'))
    expect(response.json.error.message).toContain('maior que 64 KiB')
    expect(response.json.error.message).toContain('divida')
  })

  it.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded'])(
    'of the type %s is refused with 415',
    async (type) => {
      const headers = { 'content-type': type }
      const response = await test.api.call('POST', KEYS, { headers, body: 'name=x' })
      expect(response).toMatchObject(error(415, 'invalid_request'))
    },
  )

  it.each(changes)('that is compressed is refused with 415: %s %s', async (method, path) => {
    const headers = { ...JSON_CONTENT, 'content-encoding': 'gzip' }
    const response = await test.api.call(method, path, { headers, body: gzipSync('{}') })
    expect(response).toMatchObject(error(415, 'invalid_request'))
    expect(response.json.error.message).toContain('sem compressão')
  })

  it.each(['identity', 'Identity', ''])(
    'may state that it has no encoding: "%s"',
    async (encoding) => {
      const headers = { ...JSON_CONTENT, 'content-encoding': encoding }
      const response = await test.api.call('POST', KEYS, { headers, body: '{}' })
      expect(response.status).toBe(201)
    },
  )

  it.each([
    ['name', { name: 1 }],
    ['scopes', { scopes: 'orders:read' }],
    ['scopes', { scopes: ['orders:write'] }],
    ['scopes', { scopes: ['orders:read', 'orders:read_masked'] }],
    ['scopes', { scopes: ['orders:read', 'orders:read'] }],
    ['expires_in_seconds', { expires_in_seconds: 1.5 }],
    ['expires', { expires: 60 }],
  ])('with a wrong or unknown field is refused with its name: %s', async (param, body) => {
    const response = await test.api.post(KEYS, body)
    expect(response).toMatchObject(error(400, 'invalid_request', param))
  })

  it.each(changes.filter(([, path]) => path !== '/source-orders'))(
    'with a field that the route does not have is refused with its name: %s %s',
    async (method, path) => {
      const required = REQUIRED[path.split('/').at(-1) ?? '']
      const body = { ...required, reason: 'fraud' }
      const response = await test.api.call(method, path, { body })
      expect(response).toMatchObject(error(400, 'invalid_request', 'reason'))
    },
  )

  it.each(posts)('may be empty under a JSON content type: %s %s', async (method, path) => {
    const { json, status } = await test.api.call(method, path, { headers: JSON_CONTENT })
    if (status >= 400) expect(json.error.message).not.toContain('JSON válido')
  })
})

describe('the filter of the audit log', () => {
  it.each(['', 'a%20b', 'x'.repeat(65)])('with no id of an account is refused: %j', async (id) => {
    const response = await test.api.get(`/audit?account_id=${id}`)
    expect(response).toMatchObject(error(400, 'invalid_request', 'account_id'))
  })
})

describe('a path of the management API', () => {
  it.each([
    ['GET', '/unknown'],
    ['GET', '/accounts/acc_1'],
    ['PUT', KEYS],
    ['DELETE', KEYS],
    ['POST', '/accounts/acc_1/block'],
    ['GET', `${KEYS}/%zz`],
    ['GET', `/accounts/acc_1/deliveries/${'x'.repeat(2_000)}`],
    ['POST', '/source-orders/1'],
  ] as const)('that is no route is a 404, whatever the body: %s %s', async (method, path) => {
    const response = await test.api.call(method, path, { headers: JSON_CONTENT, body: '{' })
    expect(response).toMatchObject(error(404, 'resource_missing'))
  })

  it.each([
    ['GET', '/accounts/acc_1/webhook-endpoints/:id'],
    ['GET', '/accounts/acc_1/webhook-endpoints/:id/deliveries'],
    ['DELETE', '/accounts/acc_1/webhook-endpoints/:id'],
    ['POST', '/accounts/acc_1/webhook-endpoints/:id/disable'],
    ['GET', '/accounts/acc_1/deliveries/:id'],
    ['POST', '/accounts/acc_1/deliveries/:id/resend'],
    ['POST', '/accounts/acc_1/sandbox-orders/:id/pay'],
    ['POST', '/accounts/acc_1/keys/:id/revoke'],
  ] as const)('with an id longer than any other is a 404: %s %s', async (method, path) => {
    const response = await test.api.call(method, path.replace(':id', LONG_ID))
    expect(response).toMatchObject(error(404, 'resource_missing'))
  })

  it('with a change of a sandbox order that does not exist names the address', async () => {
    const { json } = await test.api.post('/accounts/acc_1/sandbox-orders/ord_1/constructor')
    expect(json.error).toMatchObject({
      code: 'resource_missing',
      message: RESOURCE_NOT_FOUND_MESSAGE,
    })
  })

  it.each(['acc%201', 'acc.test', 'á', 'x'.repeat(65), 'a%2Fb'])(
    'with the account id %s is refused',
    async (account) => {
      const response = await test.api.get(`/accounts/${account}/keys`)
      expect(response).toMatchObject(error(400, 'invalid_request'))
    },
  )
})

describe('an unknown query parameter', () => {
  it('is named, with the one that it probably means', async () => {
    const { status, headers } = await test.api.get(`${KEYS}?limt=2`)
    expect(status).toBe(200)
    expect(headers['ignored-params']).toBe('limt;did-you-mean=limit')
  })

  it('is refused by name under handling=strict, also on a change', async () => {
    const headers = { prefer: 'handling=strict' }
    const refused = error(400, 'invalid_request', 'dry_run')
    expect(await test.api.get(`${KEYS}?dry_run=1`, { headers })).toMatchObject(refused)
    expect(await test.api.post(`${KEYS}?dry_run=1`, {}, { headers })).toMatchObject(refused)
  })
})

describe('HTTP that the parser refuses', () => {
  it.each([
    ['a malformed request line', 'NO SUCH THING\r\n\r\n'],
    ['a malformed header', `GET /v1/audit HTTP/1.1\r\nHost: localhost\r\nA b: c\r\n\r\n`],
    ['no Host', 'GET /v1/audit HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'GET /v1/audit HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['an unknown Expect', 'GET /v1/audit HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n'],
    ['a URL without a host', 'GET http:///v1/audit HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('gets an error of the API: %s', async (_what, bytes) => {
    const [response] = await sendRaw(await test.api.listen(), bytes)
    expect(response).toMatchObject({ status: 400, headers: { 'request-id': REQUEST_ID } })
    expect(JSON.parse(response?.body ?? '')).toMatchObject({ error: { code: 'invalid_request' } })
  })

  it('gets a 413 for a body that is announced too large, before it is sent', async () => {
    const head = [
      'POST /v1/accounts/acc_1/keys HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${ADMIN}`,
      'Content-Type: application/json',
      'Content-Length: 999999999',
    ]
    const [response] = await sendRaw(await test.api.listen(), `${head.join('\r\n')}\r\n\r\n`, 1)
    expect(response).toMatchObject({ status: 413, headers: { 'request-id': REQUEST_ID } })
  })

  const body = 'x'.repeat(100_000)
  // After a close, a client that still sends would see a reset connection, and no response.
  it.each([
    ['too large', 'Content-Length: 100000', `${body}`],
    ['too large, in chunks', 'Transfer-Encoding: chunked', `186a0\r\n${body}\r\n0\r\n\r\n`],
  ])('reads the rest of a body that is %s, and serves the next request', async (_, size, rest) => {
    const request = (line: string, ...headers: string[]) =>
      [line, 'Host: localhost', `Authorization: Bearer ${ADMIN}`, ...headers, '\r\n'].join('\r\n')
    const post = request(
      'POST /v1/accounts/acc_1/keys HTTP/1.1',
      'Content-Type: application/json',
      size,
    )
    const get = request('GET /v1/audit HTTP/1.1')
    const responses = await sendRaw(await test.api.listen(), post + rest + get, 2)
    expect(responses.map(({ status }) => status)).toEqual([413, 200])
  })
})
