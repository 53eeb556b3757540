import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ProxyUnderTest, startProxy } from '../support/http/proxy.ts'
import { openServedStore, type ServedStore } from '../support/stores/served-store.ts'
import { emptyResponse } from './empty-response.ts'

let store: ServedStore
let edge: ProxyUnderTest
beforeAll(async () => {
  store = openServedStore()
  edge = await startProxy([await store.serve()])
})
afterAll(async () => {
  await edge.stop()
  await store.close()
})

const percent = (text: string) =>
  Buffer.from(text)
    .toString('hex')
    .replace(/../g, (byte) => `%${byte}`)
const twice = (text: string) => percent(text).replaceAll('%', '%25')

const fixture = new URL('../fixtures/proxy/lookups.txt', import.meta.url)
const lookups = readFileSync(fixture, 'utf8').trimEnd().split('\n')

describe('a Log4j lookup', () => {
  it.each(lookups)(
    'the edge rejects a Log4j lookup in path, query and any header: %s',
    async (lookup) => {
      for (const written of [encodeURIComponent(lookup), percent(lookup), twice(lookup)]) {
        for (const path of [
          `/${written}`,
          `/v1/orders?cursor=${written}`,
          `/v1/orders?${written}=1`,
        ])
          expect(await edge.call(path), path).toEqual(emptyResponse(403))
      }
      for (const written of [lookup, percent(lookup), twice(lookup)]) {
        for (const name of ['user-agent', 'authorization', 'x-anything', 'cookie', 'accept']) {
          const answer = await edge.call('/v1/orders', { headers: { [name]: `a ${written}` } })
          expect(answer, `${name}: ${written}`).toEqual(emptyResponse(403))
        }
      }
    },
  )

  it.each([
    ['after a percent sign that begins no escape', '/v1/orders?a=%zz%&b=%24%7Bjndi:x'],
    ['after an escaped NUL', '/v1/orders?a=%00&b=%2524%257Bjndi:x'],
    ['after a NUL escaped twice', '/v1/orders?a=%2500&b=%2524%257Bjndi:x'],
    ['without an end', '/v1/orders?a=${jndi:ldap'],
    ['with letters escaped one by one', '/v1/orders?a=$%7b%6a%256edi%3ax'],
    ['with a line break inside', '/v1/orders?a=$%7B$%7Bx%0a:-j%7D$%7Bx%0a:-n%7Ddi:ldap://x%7D'],
  ])('the edge rejects a lookup %s', async (_, path) => {
    expect(await edge.call(path)).toEqual(emptyResponse(403))
  })
})

it.each([
  ['beginnings of lookups', '${'],
  ['letters', 'a'],
  ['dollars', '$'],
])('the edge rejects a lookup behind any number of %s', async (_what, text) => {
  const headers = { 'x-first': text.repeat(20_000 / text.length), 'x-second': lookups[0] ?? '' }
  expect(await edge.call('/v1/orders', { headers })).toEqual(emptyResponse(403))
})

describe('path traversal', () => {
  it.each([
    '/../etc/passwd',
    '/v1/../../etc/passwd',
    '/v1/orders/..',
    '/v1/%2e%2e/x',
    '/v1/.%2E/x',
    '/v1/..%2fx',
    '/v1/%252e%252e%252fx',
    '/v1/..%5cx',
    '/v1/..\\x',
    '/v1%5c..%5cx',
    '/v1/..;/x',
    '/v1/%00../%2e./x',
    '/v1/%c0%ae%c0%ae/x',
    '/v1/..%c0%afx',
    '/v1/..%00/x',
    '/v1/..%09/x',
    '/v1/..%23x',
    '/v1/..%253fx',
    '/v1/orders?file=../../etc/passwd',
    '/v1/orders?file=..%252f..%252fetc%252fpasswd',
    '/v1/orders?file=..\\..\\boot.ini',
  ])('the edge rejects the path traversal %s', async (path) => {
    expect(await edge.call(path)).toEqual(emptyResponse(403))
  })
})

describe('a non-public path or method', () => {
  it.each([
    '/.git',
    '/.git/config',
    '/.GIT/HEAD',
    '/a/.git/config',
    '/.env',
    '/.env.production',
    '/v1/%2eenv',
    '/%252egit/config',
  ])('the edge rejects the non-public path %s', async (path) => {
    expect(await edge.call(path)).toEqual(emptyResponse(403))
  })

  it('the edge rejects the method PROPFIND', async () => {
    expect(await edge.call('/v1/orders', { method: 'PROPFIND' })).toEqual(emptyResponse(403))
  })
})

describe('a serialised Java object', () => {
  it.each([
    '/v1/orders?cursor=rO0ABXNyABFqYXZh',
    '/v1/orders?x=%72O0ABXNy',
    '/v1/orders?x=%2572O0ABXNy',
    '/rO0ABXNy',
    '/v1/orders?x=%ac%ed%00%05sr',
    '/v1/orders?x=%25AC%25ED%2500%2505sr',
    '/%AC%ED%00%05sr',
    '/v1/orders?x=%25%61%63%ed%00%05sr',
  ])('the edge rejects the serialised Java object in %s', async (path) => {
    expect(await edge.call(path)).toEqual(emptyResponse(403))
  })

  it.each(['rO0ABXNy', 'session=rO0ABXNy', 'Bearer rO0ABXNy', '"rO0ABXNy"', '%ac%ed%00%05'])(
    'the edge rejects a serialised Java object in a header: %s',
    async (value) => {
      const headers = { 'x-anything': value }
      expect(await edge.call('/v1/orders', { headers })).toEqual(emptyResponse(403))
    },
  )
})

describe('a call to localhost', () => {
  const hosts = [
    'localhost',
    'LOCALHOST:8443',
    'localhost.',
    '127.0.0.1',
    '127.0.0.1:443',
    '[::1]:8443',
    'localhost:x',
    '0.0.0.0',
    '[::ffff:127.0.0.1]',
    '[0:0:0:0:0:0:0:1]',
  ]

  it.each(hosts)('the edge rejects the Host: %s', async (host) => {
    expect(await edge.call('/v1/orders', { headers: { host } })).toEqual(emptyResponse(403))
  })

  it('the edge accepts other host names that contain localhost', async () => {
    for (const host of ['localhost.example.com', 'my-localhost', '10.127.0.0.1.example.com'])
      expect((await edge.call('/x', { headers: { host } })).status, host).toBe(404)
  })

  it('the edge accepts localhost when the check is disabled', async () => {
    const local = await startProxy([await store.serve()], { EDGE_REFUSE_LOCALHOST: 'no' })
    try {
      for (const host of hosts)
        expect((await local.call('/x', { headers: { host } })).status, host).toBe(404)
    } finally {
      await local.stop()
    }
  })
})

it('the edge logs the reason of a rejection without request data or sender', async () => {
  await edge.call('/secret-path/.git?secret-value', { headers: { 'x-secret': 'secret-header' } })
  // HAProxy logs a request after its response.
  await expect.poll(edge.log).toContain('"status":403,"refused":"hidden_file"')
  expect(await edge.log()).not.toMatch(/secret|127\.0\.0\.1|jndi|passwd/)
})
