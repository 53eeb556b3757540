import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../../src/app.ts'
import { managementOperationOf, managementOperations } from '../../harness/traffic/openapi-check.ts'
import { sendRaw } from '../../support/http/raw-http.ts'
import { ROOMY } from '../../support/http/test-app.ts'
import { READER } from '../../support/management/build-management.ts'
import { useManagementApi } from '../../support/management/management-api.ts'
import { bearerOf, changes, reads } from '../../support/management/routes.ts'
import { createEndpoint } from '../../support/management/webhook-endpoints.ts'
import { silent } from '../../support/stores/services.ts'

const test = useManagementApi({ env: ROOMY })

const REQUEST_ID = expect.stringMatching(/^req_[0-9a-f]{32}$/)
const unauthorized = {
  status: 401,
  headers: { 'request-id': REQUEST_ID, 'www-authenticate': 'Bearer' },
  json: {
    error: { type: 'authentication_error', code: 'invalid_api_key', request_id: REQUEST_ID },
  },
}

it('the table of routes has every operation of the description', () => {
  const tested = [...reads, ...changes].map(([method, path]) =>
    managementOperationOf(method, `/v1${path}`),
  )
  expect(new Set(tested)).toEqual(new Set(managementOperations))
})

it('the description has every route, and no other', () => {
  const registered = test.api.routes.filter((route) => route.includes(' /v1/'))
  const described = registered.map((route) => route.replaceAll(/:(\w+)/g, '{$1}'))
  expect(new Set(described)).toEqual(new Set(managementOperations))
})

describe('a request without a valid token is refused', () => {
  it.each([
    ['no header', {}],
    ['an empty header', { authorization: '' }],
    ['a wrong token', bearerOf('wrong')],
    ['the digest of a token', bearerOf('a'.repeat(64))],
    ['another scheme', { authorization: `Basic ${READER}` }],
    ['two spaces', { authorization: `Bearer  ${READER}` }],
    ['no scheme', { authorization: READER }],
    ['an API key', bearerOf('key_live_00000000000000000000000000000000000000')],
  ])('with %s', async (_what, headers) => {
    const response = await test.api.get('/audit', { token: null, headers: { ...headers } })
    expect(response).toMatchObject(unauthorized)
  })

  it('with two headers, of which one is valid', async () => {
    const port = await test.api.listen()
    const headers = [READER, 'other'].map((token) => `Authorization: Bearer ${token}\r\n`)
    const request = `GET /v1/audit HTTP/1.1\r\nHost: localhost\r\n${headers.join('')}\r\n`
    const [response] = await sendRaw(port, request, 1)
    expect(response?.status).toBe(401)
    expect(JSON.parse(response?.body ?? '')).toMatchObject(unauthorized.json)
  })

  it.each([...reads, ...changes])('on every route: %s %s', async (method, path) => {
    expect(await test.api.call(method, path, { token: null })).toMatchObject(unauthorized)
  })

  it('on unknown routes', async () => {
    expect(await test.api.get('/unknown', { token: null })).toMatchObject(unauthorized)
  })
})

it('the scheme of a token is read in upper and lower case', async () => {
  const headers = { authorization: `bearer ${READER}` }
  expect(await test.api.get('/audit', { token: null, headers })).toMatchObject({ status: 200 })
})

describe('a token with the role read', () => {
  it.each(reads)('reads: %s %s', async (method, path) => {
    const { status } = await test.api.call(method, path, { token: READER })
    expect([200, 404]).toContain(status)
  })

  it.each(changes)('changes nothing: %s %s', async (method, path) => {
    const response = await test.api.call(method, path, { token: READER })
    expect(response).toMatchObject({
      status: 403,
      json: { error: { type: 'permission_error', code: 'forbidden_role' } },
    })
  })

  it('leaves no entry in the audit log', async () => {
    const endpoint = await createEndpoint(test.api, 'acc_read')
    const path = `/accounts/acc_read/webhook-endpoints/${endpoint.id}`
    await test.api.call('DELETE', path, { token: READER })
    await test.api.refresh()
    expect(await test.api.audited('acc_read')).toHaveLength(1)
    expect(await test.api.get(path)).toMatchObject({ status: 200 })
  })
})

describe('the public port', () => {
  let publicApp: ReturnType<typeof buildApp>
  let key: string
  beforeAll(async () => {
    const { config, services, metrics } = test.api
    publicApp = buildApp(config, services, { logger: silent, metrics })
    key = (await test.api.issue()).key
    await test.api.refresh()
  })
  afterAll(() => publicApp.close())

  it.each([...reads, ...changes])('has no management route: %s %s', async (method, path) => {
    const withKey = await publicApp.inject({ method, url: `/v1${path}`, headers: bearerOf(key) })
    expect(withKey.statusCode).toBe(404)
    const url = `/v1${path}`
    const withToken = await publicApp.inject({ method, url, headers: bearerOf(READER) })
    expect([401, 404]).toContain(withToken.statusCode)
  })
})
