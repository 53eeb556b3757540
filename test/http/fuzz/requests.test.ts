import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listParamNames } from '../../../src/orders/list-params.ts'
import { byEffort } from '../../support/effort.ts'
import { expectOpenApiResponse } from '../../support/http/openapi-response.ts'
import { anyBytes, rawHeaders, rawQueries } from '../../support/http/raw-arbitraries.ts'
import { sendRaw } from '../../support/http/raw-http.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

const RUNS = byEffort(100, 300)
const LISTED_PARAMS: readonly (string | undefined)[] = listParamNames

let app: TestApp
let port: number
let key: string

beforeAll(async () => {
  app = await createTestApp({
    RATE_LIMIT_CAPACITY: '100000',
    RATE_LIMIT_REFILL_PER_SECOND: '100000',
    TRUST_PROXY: '127.0.0.1',
  })
  await app.load([sourceOrder()])
  key = (await app.issue()).key
  await app.app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.app.server.address() as AddressInfo).port
})
afterAll(() => app.close())

let address = 0
/** Every request uses another address, so that invalid keys get 401 and block no address. */
const nextCaller = () => {
  address += 1
  return `Host: localhost\r\nX-Forwarded-For: 10.${address >> 16}.${(address >> 8) & 255}.${address & 255}\r\n`
}
const bearer = () => `Authorization: Bearer ${key}\r\n`

/** Sends a request on a new connection and checks its first response. */
async function send(path: string, query: Buffer | string, headers: Buffer | string) {
  const parts = [`GET ${path}?`, query, ' HTTP/1.1\r\n', nextCaller(), headers, '\r\n']
  const bytes = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)),
  )
  const [answer] = await sendRaw(port, bytes, 1)
  return expectOpenApiResponse(path, answer)
}
const LIST = '/v1/orders'

describe('a raw query string', () => {
  it('gets a page, or a 400 that names one of the parameters', async () => {
    await fc.assert(
      fc.asyncProperty(rawQueries, async (query) => {
        const { status, param } = await send(LIST, query, bearer())
        expect([200, 400]).toContain(status)
        expect(status === 200 || LISTED_PARAMS.includes(param)).toBe(true)
      }),
      { numRuns: RUNS },
    )
  })

  it('a raw query string does not affect an order read by its id', async () => {
    await fc.assert(
      fc.asyncProperty(rawQueries, async (query) => {
        expect(await send('/v1/orders/ord_1', query, bearer())).toMatchObject({ status: 200 })
      }),
      { numRuns: RUNS / 2 },
    )
  })

  it('a raw query string of any bytes gets a documented response', async () => {
    await fc.assert(
      fc.asyncProperty(anyBytes(30), async (bytes) => {
        const { status } = await send(LIST, bytes, bearer())
        expect([200, 400]).toContain(status)
      }),
      { numRuns: RUNS },
    )
  })

  it.each<[string, string, number]>([
    ['15 KB of a value', `x=${'v'.repeat(15_000)}`, 200],
    ['15 KB of a name', `${'n'.repeat(15_000)}=x`, 200],
    ['15 KB of percent signs', '%'.repeat(15_000), 200],
    ['5,000 parameters', 'a&'.repeat(5_000), 200],
    ['5,000 parameters of one name', 'a=&'.repeat(4_000), 200],
    ['2,500 values of a filter', `status=${'PAID,'.repeat(2_500)}PAID`, 200],
    ['1,000 repeated filters', 'status=PAID&'.repeat(1_000), 200],
    ['1,000 limits', 'limit=20&'.repeat(1_000), 400],
    ['brackets 3,000 deep', `a${'[b]'.repeat(3_000)}=1`, 200],
    ['a filter with brackets', 'status[]=PAID', 200],
    ['the name of a prototype', '__proto__=x&constructor=y&__proto__[limit]=0', 200],
    ['a prototype among repeated names', '__proto__=1&__proto__=2&toString=3', 200],
    ['a NUL in a filter', 'status=PAID%00', 400],
    ['half of a surrogate pair in a cursor', 'cursor=%ED%A0%80', 400],
    ['half of a surrogate pair in a name', '%ED%A0%80=1', 200],
    ['a name truncated in the middle of a character', `${'n'.repeat(63)}%F0%9F%98%80=1`, 200],
    ['a line break in a name', '%0d%0aX-Injected:%201=1', 200],
    ['a name of 2,000 characters of three bytes', '%E2%82%AC'.repeat(1_500), 200],
  ])('gets a response when it has %s', async (_name, query, status) => {
    expect(await send(LIST, query, bearer())).toMatchObject({ status })
  })
})

describe('raw headers', () => {
  it('raw headers of any name and value, with a valid key, get a documented response', async () => {
    await fc.assert(
      fc.asyncProperty(rawHeaders, async (headers) => {
        const answer = send(LIST, '', Buffer.concat([Buffer.from(bearer()), headers]))
        await expect(answer).resolves.toHaveProperty('status')
      }),
      { numRuns: RUNS },
    )
  })

  it('raw headers never authenticate without a valid key', async () => {
    await fc.assert(
      fc.asyncProperty(rawHeaders, async (headers) => {
        const { status } = await send(LIST, '', headers)
        expect([400, 401, 429]).toContain(status)
      }),
      { numRuns: RUNS },
    )
  })
})

describe('an Authorization header', () => {
  const edits = fc.array(
    fc.record({
      at: fc.oneof(fc.constantFrom(0, 6, 7, 8, 54), fc.nat(60)),
      remove: fc.nat(2),
      insert: fc.oneof(
        fc.constant(''),
        fc.constantFrom(
          ' ',
          '\t',
          'Bearer ',
          'Basic ',
          ',',
          '"',
          '=',
          ':',
          '\u00a0',
          'é',
          'key_live_',
          '0',
        ),
        fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)),
      ),
    }),
    { minLength: 1, maxLength: 3 },
  )

  it('an Authorization header with a key is accepted in its one form, and rejected in any other', async () => {
    await fc.assert(
      fc.asyncProperty(edits, async (all) => {
        const value = all.reduce(
          (text, { at, remove, insert }) => text.slice(0, at) + insert + text.slice(at + remove),
          `Bearer ${key}`,
        )
        const { status } = await send(
          LIST,
          '',
          Buffer.from(`Authorization: ${value}\r\n`, 'latin1'),
        )
        // HTTP strips spaces around a value.
        const [, scheme, rest] = /^[ \t]*(\S+) (\S+)[ \t]*$/.exec(value) ?? []
        const isRight = scheme?.toLowerCase() === 'bearer' && rest === key
        expect(isRight ? [200] : [400, 401]).toContain(status)
      }),
      { numRuns: 2 * RUNS },
    )
  })

  it.each<[string, () => string]>([
    ['folded over two lines', () => `Authorization: Bearer\r\n ${key}\r\n`],
    ['of 15 KB', () => `Authorization: Bearer ${'x'.repeat(15_000)}\r\n`],
    ['with two keys', () => `Authorization: Bearer ${key}, Bearer ${key}\r\n`],
    ['with the key quoted', () => `Authorization: Bearer "${key}"\r\n`],
    ['with the key as a parameter', () => `Authorization: Bearer token=${key}\r\n`],
    [
      'with the key in base64',
      () => `Authorization: Basic ${Buffer.from(`${key}:`).toString('base64')}\r\n`,
    ],
    ['with a NUL after the key', () => `Authorization: Bearer ${key}\0\r\n`],
    ['under Proxy-Authorization', () => `Proxy-Authorization: Bearer ${key}\r\n`],
    ['in a cookie', () => `Cookie: Authorization=Bearer ${key}; key=${key}\r\n`],
    ['under the name of other services', () => `X-Api-Key: ${key}\r\nApi-Key: ${key}\r\n`],
  ])('the service rejects an Authorization header %s', async (_name, header) => {
    const { status } = await send(LIST, '', header())
    expect([400, 401]).toContain(status)
  })
})
