import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { generateApiKey, keyDigest } from '../../src/auth/api-key.ts'
import { openSocket } from '../support/http/raw-http.ts'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'

let app: TestApp
let port: number
let valid: string
let revoked: string
let expired: string

beforeAll(async () => {
  app = await createTestApp({ TRUST_PROXY: '127.0.0.1' })
  valid = (await app.issue()).key
  const issued = await app.issue()
  revoked = issued.key
  await app.services.keys.update(issued.record.digest, { revokedAt: app.clock.nowMs })
  expired = (await app.issue({ expiresAt: app.clock.nowMs })).key
  await app.app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.app.server.address() as AddressInfo).port
})
afterAll(() => app.close())

const otherLast = (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
const prefixOf = (key: string) => key.slice(0, 12)

/** Credentials by name, as functions because the keys do not exist yet at collection. */
const malformed: [string, () => string][] = [
  ['a word', () => 'Bearer x'],
  ['a wrong checksum', () => `Bearer ${otherLast(generateApiKey())}`],
  ['a wrong checksum after a key that exists', () => `Bearer ${otherLast(valid)}`],
  ['another prefix', () => `Bearer ${generateApiKey().replace('key_live_', 'key_test_')}`],
  ['the start of a key that exists', () => `Bearer ${prefixOf(valid)}`],
  ['another scheme', () => `Basic ${valid}`],
]
const wellFormed: [string, () => string][] = [
  ['an unknown key', () => `Bearer ${generateApiKey()}`],
  ['a revoked key', () => `Bearer ${revoked}`],
  ['an expired key', () => `Bearer ${expired}`],
]

let address = 0

/** The raw response, with its request id and date replaced. */
async function responseTo(requestLine: string, authorization: string | undefined): Promise<string> {
  address += 1 // Every request uses another address, so that none is blocked.
  const socket = await openSocket(port)
  const lines = [
    `${requestLine} HTTP/1.1`,
    'Host: localhost',
    `X-Forwarded-For: 10.0.0.${address}`,
    'Connection: close',
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  return (await text(socket))
    .replaceAll(/req_[0-9a-f]{32}/g, 'req_ID')
    .replace(/\r\nDate: [^\r]+/, '\r\nDate: NOW')
}

describe.each([
  'GET /v1/orders',
  'GET /v1/orders?limit=0',
  'GET /v1/orders/ord_1',
  'GET /v1/nothing-here',
  'POST /v1/orders',
  'HEAD /v1/orders',
])('the 401 response to %s', (requestLine) => {
  it.each([...malformed, ...wellFormed])(
    'the 401 response is byte for byte the same for %s as for no key',
    async (_name, credential) => {
      const withoutKey = await responseTo(requestLine, undefined)
      expect(withoutKey).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/)
      expect(await responseTo(requestLine, credential())).toBe(withoutKey)
    },
  )
})

describe('the lookup of a key', () => {
  /** The digests that the key cache looked up during one request. */
  async function lookedUp(credential: string): Promise<string[]> {
    using find = vi.spyOn(app.services.keyCache, 'find')
    await responseTo('GET /v1/orders', credential)
    return find.mock.calls.map(([digest]) => digest)
  }

  it.each(malformed)(
    'the lookup of a key is skipped for %s, because its format is already invalid',
    async (_name, credential) => {
      expect(await lookedUp(credential())).toEqual([])
    },
  )

  it.each([...wellFormed, ['a valid key', () => `Bearer ${valid}`] as const])(
    'uses the digest of the whole key, once, for %s',
    async (_name, credential) => {
      const header = credential()
      const digest = keyDigest(app.services.keyPepper, header.slice('Bearer '.length))
      expect(await lookedUp(header)).toEqual([digest])
    },
  )
})
