import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import { ORDER_SCHEMA_VERSION } from '../../../../../src/orders/order.ts'
import { serializeDocument } from '../../../../../src/stores/opensearch/order-documents/order-document-source.ts'
import {
  type DecodePath,
  decodePages,
  decodeSource,
} from '../../../../../src/stores/opensearch/read/decode-orders.ts'
import { hostileDocument } from '../../../../support/orders/hostile-orders.ts'

const ACCOUNT = 'acc_1'
const document = hostileDocument(ACCOUNT, 0)
const key = { accountId: ACCOUNT, orderId: document.id }

/** The decoded order and how it was decoded. */
function decode(source: string, of = key) {
  const paths: DecodePath[] = []
  const order = decodeSource(Buffer.from(source), of, (path) => paths.push(path))
  return order instanceof Unavailable ? order : { json: Buffer.from(order).toString(), paths }
}

const withJson = (json: string) => serializeDocument({ ...document, json })

describe('the order of a source', () => {
  it.each([
    '{"tracking":{"a,\\"order\\":":"{\\"id\\":\\"ord_other\\"}"}}',
    '{"tracking":{"order":"x","account_id":"acc_2","id":"ord_2","shape":"9"}}',
    '{"tracking":{"frame":"00000000-0001-00000001","x":"}"}}',
    '{"tracking":{"x":"1","\\\\":"2"}}',
    '{"tracking":{"__proto__":"p","\\u2028":"é👩‍👩‍👧"}}',
  ])('the order of a source with the tracking %s is cut byte for byte', (json) => {
    expect(decode(withJson(json))).toEqual({ json, paths: ['cut'] })
  })

  it('the order of a source of an older schema version has every field', () => {
    const { utm: _later, ...order } = JSON.parse(document.json)
    const older = {
      ...document,
      json: JSON.stringify(order),
      schemaVersion: ORDER_SCHEMA_VERSION - 1,
    }
    const upgraded = JSON.stringify({ ...order, utm: null })
    expect(decode(serializeDocument(older))).toEqual({ json: upgraded, paths: ['older_shape'] })
  })

  it('the order of a source without a checksum header is parsed', () => {
    const source = serializeDocument(document).replace(/"frame":"[^"]+",/, '')
    expect(decode(source)).toEqual({ json: document.json, paths: ['unexpected'] })
  })

  it.each([
    ['account', { ...key, accountId: 'acc_2' }],
    ['order', { ...key, orderId: 'ord_other' }],
  ])('a source of another %s is an error', (_what, of) => {
    expect(decode(serializeDocument(document), of)).toBeInstanceOf(Unavailable)
  })

  it.each([
    ['has a changed byte', (source: string) => source.replace('"PAID"', '"VOID"')],
    ['ends early', (source: string) => source.slice(0, -2)],
    ['has more after it', (source: string) => `${source} `.replace(/ $/, 'x')],
    ['starts its order too late', (source: string) => movedBoundary(source, 1)],
    ['starts its order in the name before it', (source: string) => movedBoundary(source, -1)],
    ['starts its order at a name in its tracking', () => movedToTracking()],
    ['is no order', () => '{"account_id":"acc_1","id":"ord_1"}'],
    ['is no JSON', () => 'half'],
  ])('a source that %s is an error', (_what, damage) => {
    const damaged = damage(serializeDocument(document))
    expect(decode(damaged)).toBeInstanceOf(Unavailable)
  })
})

/** The same source, whose checksum header places the start of the order elsewhere. */
function movedBoundary(source: string, byBytes: number): string {
  return source.replace(
    /^(\{"frame":"[0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{8})/,
    (_all, start, keys, order) => {
      const moved = (hex: string, by: number) =>
        (Number.parseInt(hex, 16) + by).toString(16).padStart(hex.length, '0')
      return `${start}-${moved(keys, byBytes)}-${moved(order, -byBytes)}`
    },
  )
}

function movedToTracking(): string {
  const source = withJson('{"tracking":{"utm":"x","order":{"id":"ord_other"}}}')
  const name = ',"order":'
  return movedBoundary(source, source.lastIndexOf(name) - source.indexOf(name))
}

describe('the pages of one response', () => {
  const listing = { accountId: ACCOUNT, sort: 'created_at_desc' } as const
  const page = (error?: object) => ({
    ...(error && { error }),
    status: error === undefined ? 200 : 503,
    timed_out: false,
    _shards: { total: 1, successful: 1, failed: 0 },
    hits: { hits: [] },
  })

  /** How many pages count as unexpected in a response that no decoder of bytes accepts. */
  function unexpectedOf(...responses: object[]): number {
    const paths: DecodePath[] = []
    const response = Buffer.from(JSON.stringify({ took: 1, responses }, null, 1))
    const pages = decodePages(
      response,
      responses.map(() => listing),
      (path) => paths.push(path),
    )
    expect(pages).toHaveLength(responses.length)
    return paths.filter((path) => path === 'unexpected').length
  }

  it('the pages of one response count as unexpected, but not beside one that failed', () => {
    const failed = page({ type: 'unavailable_shards_exception', reason: 'no shard' })
    expect(unexpectedOf(page(), page())).toBe(2)
    expect(unexpectedOf(page(), failed)).toBe(0)
  })
})
