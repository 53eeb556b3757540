import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { byEffort } from '../../support/effort.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { walk } from '../../support/simulation/walk.ts'

const RUNS = byEffort(100, 250)
const INVALID_CURSOR = { status: 400, code: 'invalid_request', param: 'cursor' }
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const queries = [
  '',
  'sort=updated_at_asc',
  'status=PAID',
  'sort=updated_at_asc&status=PAID',
  'created_gte=2026-01-01T00:00:00Z',
  'sort=updated_at_asc&updated_gte=2026-01-01T00:00:00Z',
]

interface Sealed {
  cursor: string
  /** The account's key, and the filters and sort. */
  key: string
  query: string
}

let app: TestApp
let sealed: Sealed[]

beforeAll(async () => {
  const [one, other] = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString('base64'))
  app = await createTestApp({
    CURSOR_SECRETS: `k1:${one},k2:${other}`,
    RATE_LIMIT_CAPACITY: '100000',
    RATE_LIMIT_REFILL_PER_SECOND: '100000',
  })
  const accounts = ['acc_1', 'acc_2']
  await app.load(
    accounts.flatMap((owner_account_id, at) =>
      Array.from({ length: 6 }, (_, number) =>
        sourceOrder({
          id: `ord_${at}_${number}`,
          owner_account_id,
          // Half of them have no initial fill, because the cursors of orders without updated_at
          // carry the most fields.
          changed_at: number < 3 ? `2026-03-0${number + 1}T12:05:00Z` : null,
        }),
      ),
    ),
  )
  const keys = await Promise.all(
    accounts.map(async (accountId) => (await app.issue({ accountId })).key),
  )
  const listings = keys.flatMap((key) => queries.map((query) => ({ key, query })))
  const listed = await Promise.all(
    listings.map(async ({ key, query }) => {
      const pages = await walk(app, key, `limit=1&${query}`)
      return pages.flatMap(({ next_cursor: cursor }) => (cursor ? [{ key, query, cursor }] : []))
    }),
  )
  sealed = listed.flat()
})
afterAll(() => app.close())

/** The error for a text given as the cursor of this listing; `null` for a page. */
async function errorOf(
  { key, query }: Omit<Sealed, 'cursor'>,
  text: string,
  inUrl: (text: string) => string = encodeURIComponent,
) {
  const url = `/v1/orders?${query}&cursor=${inUrl(text.toWellFormed())}`
  const { status, json } = await app.call(url, { key })
  return status === 200 ? null : { status, code: json.error.code, param: json.error.param }
}

/** One of the real cursors, which do not exist yet at collection. */
const anySealed = () => fc.constantFrom(...sealed)

const shortBytes = fc.uint8Array({ maxLength: 40 })
/** An edit of the decoded cursor bytes: what is removed, and what replaces it. */
const splices = fc.record({ at: fc.nat(400), remove: fc.nat(400), insert: shortBytes })

function splice(
  bytes: Buffer,
  { at, remove, insert }: { at: number; remove: number; insert: Uint8Array },
) {
  return Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)])
}

describe('an altered cursor', () => {
  it('an altered cursor is rejected after a change of one bit', async () => {
    await fc.assert(
      fc.asyncProperty(anySealed(), fc.nat(8 * 400), async (one, place) => {
        const bytes = Buffer.from(one.cursor, 'base64url')
        const at = (place >> 3) % bytes.length
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (place & 7)), at)
        expect(await errorOf(one, bytes.toString('base64url'))).toEqual(INVALID_CURSOR)
      }),
      { numRuns: RUNS },
    )
  })

  it('an altered cursor is rejected after a change of its bytes', async () => {
    const changes = fc.array(splices, { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(anySealed(), changes, async (one, all) => {
        const altered = all
          .reduce(splice, Buffer.from(one.cursor, 'base64url'))
          .toString('base64url')
        fc.pre(altered !== one.cursor)
        expect(await errorOf(one, altered)).toEqual(INVALID_CURSOR)
      }),
      { numRuns: RUNS },
    )
  })

  it('an altered cursor is rejected after a change of its text', async () => {
    const edit = fc.record({
      at: fc.nat(500),
      remove: fc.nat(3),
      insert: fc.oneof(
        fc.string({ unit: fc.constantFrom(...ALPHABET), maxLength: 4 }),
        fc.constantFrom('=', '==', '+', '/', '%', '&', ' ', '\n', '\0', '.', '😀', '\ud800'),
        fc.string({ unit: 'binary', maxLength: 4 }),
      ),
    })
    await fc.assert(
      fc.asyncProperty(anySealed(), edit, async (one, { at, remove, insert }) => {
        const start = at % one.cursor.length
        const text = one.cursor.slice(0, start) + insert + one.cursor.slice(start + remove)
        fc.pre(text !== one.cursor)
        expect(await errorOf(one, text)).toEqual(INVALID_CURSOR)
      }),
      { numRuns: RUNS },
    )
  })

  it('an altered cursor is rejected when it joins the start of one cursor and the end of another', async () => {
    await fc.assert(
      fc.asyncProperty(anySealed(), anySealed(), fc.nat(400), async (one, other, at) => {
        const head = Buffer.from(one.cursor, 'base64url').subarray(0, at)
        const tail = Buffer.from(other.cursor, 'base64url').subarray(at)
        const text = Buffer.concat([head, tail]).toString('base64url')
        fc.pre(text !== one.cursor && text !== other.cursor)
        expect(await errorOf(one, text)).toEqual(INVALID_CURSOR)
        expect(await errorOf(other, text)).toEqual(INVALID_CURSOR)
      }),
      { numRuns: RUNS },
    )
  })

  it('an altered cursor is rejected under the id of any other secret', async () => {
    const kids = fc.oneof(
      fc.constantFrom('k2', 'k', '', 'K1', 'k1\0', '__proto__', 'constructor'),
      fc.string({ unit: 'binary', maxLength: 16 }),
    )
    await fc.assert(
      fc.asyncProperty(anySealed(), kids, async (one, kid) => {
        fc.pre(kid !== 'k1')
        const bytes = Buffer.from(one.cursor, 'base64url')
        const name = Buffer.from(kid)
        const renamed = Buffer.concat([Buffer.from([1, name.length]), name, bytes.subarray(4)])
        expect(await errorOf(one, renamed.toString('base64url'))).toEqual(INVALID_CURSOR)
      }),
      { numRuns: RUNS },
    )
  })
})

describe('an unaltered cursor', () => {
  it('an unaltered cursor is rejected in every other listing', async () => {
    const others = sealed.flatMap((one) =>
      sealed
        .filter(({ key, query }) => key !== one.key || query !== one.query)
        .map(({ key, query }) => ({ key, query, cursor: one.cursor })),
    )
    const listings = new Map(others.map((one) => [Object.values(one).join(' '), one]))
    for (const one of listings.values()) {
      expect(await errorOf(one, one.cursor)).toEqual(INVALID_CURSOR)
    }
  })

  it('an unaltered cursor is accepted in its own listing, however its characters are escaped in the URL', async () => {
    const everyByte = (text: string) =>
      [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('')
    for (const one of sealed) {
      expect(await errorOf(one, one.cursor)).toBeNull()
      expect(await errorOf(one, one.cursor, everyByte)).toBeNull()
    }
  })
})

describe('a text that never was a cursor', () => {
  it.each<[string, fc.Arbitrary<string>]>([
    ['letters of its alphabet', fc.string({ unit: fc.constantFrom(...ALPHABET), maxLength: 600 })],
    ['any characters', fc.string({ unit: 'binary', maxLength: 100 })],
    [
      'a valid header with random bytes',
      fc.uint8Array({ maxLength: 300 }).map((rest) => {
        return Buffer.concat([Buffer.from([1, 2, 0x6b, 0x31]), rest]).toString('base64url')
      }),
    ],
  ])('a text that never was a cursor is rejected: %s', async (_name, texts) => {
    await fc.assert(
      fc.asyncProperty(anySealed(), texts, async (one, text) => {
        expect(await errorOf(one, text)).toEqual(INVALID_CURSOR)
      }),
      { numRuns: RUNS },
    )
  })
})
