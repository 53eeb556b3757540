import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RESOURCE_NOT_FOUND_MESSAGE } from '../../../../src/http/api-error.ts'
import { createTestConsole, type TestConsole } from '../../../support/console/test-console.ts'
import { sendRaw } from '../../../support/http/raw-http.ts'

let one: TestConsole
beforeAll(async () => {
  one = await createTestConsole()
})
afterAll(() => one.close())

const folder = new URL('../../../../src/console/', import.meta.url)
const files = globSync('**/*.*', { cwd: fileURLToPath(folder) })
const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8')

describe('every response of the console', () => {
  it.each([
    ['the page', '/painel', 200],
    ['a file of the page', '/painel/start.js', 200],
    ['an unknown file', '/painel/x.js', 404],
    ['an unknown path', '/x', 404],
    ['a call without session', '/v1/session', 401],
  ])('%s carries the security headers', async (_name, url, status) => {
    const response = await one.call(url)
    expect(response.status).toBe(status)
    expect(response.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
    const policy = String(response.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*|http/)
  })

  it('no response about an account is stored by a cache', async () => {
    const session = await one.signIn()
    const { headers } = await one.call('/v1/accounts/acc_1/keys', { session })
    expect(headers['cache-control']).toBe('no-store')
  })
})

it.each([
  ['a malformed request line', 'NO SUCH THING\r\n\r\n'],
  ['a malformed header', 'GET /painel HTTP/1.1\r\nHost: localhost\r\nA b: c\r\n\r\n'],
])('%s gets an error of the API', async (_what, bytes) => {
  const listening = await createTestConsole()
  const [response] = await sendRaw(await listening.listen(), bytes)
  await listening.close()
  expect(response).toMatchObject({ status: 400 })
  expect(JSON.parse(response?.body ?? '')).toMatchObject({ error: { code: 'invalid_request' } })
})

describe.each(['/', '/painel/'])('GET %s of the console', (url) => {
  it('leads a browser to the page', async () => {
    const { status, headers } = await one.call(url, { headers: { accept: 'text/html, */*;q=0.8' } })
    expect([status, headers['location'], headers['vary']]).toEqual([302, '/painel', 'Accept'])
  })

  it('returns the common 404 to other callers', async () => {
    const { status, headers, json } = await one.call(url, { headers: { accept: '*/*' } })
    expect([status, json.error.message]).toEqual([404, RESOURCE_NOT_FOUND_MESSAGE])
    expect(headers['vary']).toBe('Accept')
  })
})

describe('the files of the page', () => {
  it('the page loads less than 60 KB gzipped', () => {
    const bytes = files.map((name) => gzipSync(textOf(name)).length)
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000)
  })

  it.each(files)('%s is served, compressed, and again only when it changed', async (name) => {
    const headers = { 'accept-encoding': 'gzip' }
    const first = await one.call(`/painel/${name}`, { headers })
    expect([first.status, first.headers['content-encoding']]).toEqual([200, 'gzip'])
    const etag = String(first.headers['etag'])
    const again = { ...headers, 'if-none-match': etag }
    const second = await one.call(`/painel/${name}`, { headers: again })
    expect(second.status).toBe(304)
  })

  it.each(files)('%s names no other origin', (name) => {
    const addresses = textOf(name).match(/https?:\/\/[\w.]+/g) ?? []
    expect(addresses.filter((address) => address !== 'http://www.w3.org')).toEqual([])
  })

  it('nothing outside the folder of the page is served', async () => {
    for (const path of [
      '..%2F..%2Fpackage.json',
      '%2e%2e/main.ts',
      'ui/..%2F..%2Fmain.ts',
      '.',
      'ui',
      'constructor',
    ]) {
      const { status, json } = await one.call(`/painel/${path}`)
      expect([status, json.error.message]).toEqual([404, RESOURCE_NOT_FOUND_MESSAGE])
    }
  })
})
