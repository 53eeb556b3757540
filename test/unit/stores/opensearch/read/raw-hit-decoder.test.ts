import { describe, expect, it } from 'vitest'
import type { OrderDocument } from '../../../../../src/indexing/writer/order-document.ts'
import { ORDER_SCHEMA_VERSION } from '../../../../../src/orders/order.ts'
import type { Sort } from '../../../../../src/orders/order-store.ts'
import { serializeDocument } from '../../../../../src/stores/opensearch/order-documents/order-document-source.ts'
import {
  decodeRawDocument,
  decodeRawHits,
  decodeRawPages,
} from '../../../../../src/stores/opensearch/read/raw-hit-decoder.ts'
import { hostileDocument } from '../../../../support/orders/hostile-orders.ts'

const ACCOUNT = 'acc_1'
const documents = [0, 1, 2]
  .map((index) => hostileDocument(ACCOUNT, index))
  .sort((one, other) => other.createdKey - one.createdKey)

const hit = (
  document: OrderDocument,
  sort: Sort = 'created_at_desc',
  source = serializeDocument(document),
) => {
  const key = sort === 'created_at_desc' ? document.createdKey : document.updatedKey
  const about = `"_index":"orders-v1","_id":"${ACCOUNT}:${document.id}","_score":null,"_routing":"${ACCOUNT}"`
  return `{${about},"_source":${source},"sort":[${key},"${document.id}"]}`
}
const page = (...hits: string[]) =>
  `{"took":3,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{"max_score":null,"hits":[${hits.join(',')}]}}`

const cut = (answer: string, sort: Sort = 'created_at_desc', accountId = ACCOUNT) =>
  decodeRawHits(Buffer.from(answer), { accountId, sort })

const whole = page(...documents.map((document) => hit(document)))
const [first, second, third] = documents.map((document) => hit(document)) as [
  string,
  string,
  string,
]

const manyProducts = Array.from({ length: 5_000 }, (_, n) => `prod_${n}_of_many`)

describe('the decoder of several pages', () => {
  const inPart = (answer: string) => `${answer.slice(0, -1)},"status":200}`
  const pages = (...answers: string[]) =>
    `{"took":4,"responses":[${answers.map(inPart).join(',')}]}`
  const listing = { accountId: ACCOUNT, sort: 'created_at_desc' } as const
  const decode = (answer: string, count: number) =>
    decodeRawPages(Buffer.from(answer), Array(count).fill(listing))
  const two = pages(whole, page(first))

  it('returns the rows of each page in the order of the requests, as from a page alone', () => {
    expect(decode(pages(whole, page(), page(second)), 3)).toEqual([
      cut(whole),
      [],
      cut(page(second)),
    ])
  })

  it.each<[string, string, number]>([
    ['with fewer pages than were requested', two, 3],
    ['with more pages', two, 1],
    ['with a failed page', two.replace('"status":200', '"status":503'), 2],
    ['with an error in place of a page', two.replace(inPart(whole), '{"error":{}}'), 2],
    ['without a comma between pages', two.replace('},{"took"', '}{"took"'), 2],
    ['with pages of another order', pages(page(second, first), page(first)), 2],
    ['with bytes after its end', `${two} `, 2],
    ['of a page alone', whole, 1],
  ])('returns nothing from a response %s', (_what, answer, count) => {
    expect(decode(answer, count)).toBeUndefined()
  })
})

describe('the decoder of raw hits', () => {
  it('the decoder returns the orders as they were written, each with its sort key', () => {
    expect(cut(whole)).toEqual(
      documents.map(({ createdKey, id, json }) => ({
        key: createdKey,
        id,
        schemaVersion: ORDER_SCHEMA_VERSION,
        json: Buffer.from(json),
        tag: expect.any(String),
      })),
    )
  })

  it.each<[string, Partial<OrderDocument>]>([
    ['order', { json: '{"id":"ord_0"}' }],
    ['write timestamp', { writtenKey: 1 }],
  ])('the tag of a row changes with its %s alone', (_what, change) => {
    const [document] = documents
    if (document === undefined) throw new Error('there are documents')
    const tagOf = (changed: Partial<OrderDocument>) => {
      const source = serializeDocument({ ...document, ...changed })
      return cut(page(hit(document, 'created_at_desc', source)))?.[0]?.tag
    }
    expect(tagOf({})).toBe(tagOf({}))
    expect(tagOf(change)).not.toBe(tagOf({}))
  })

  it('the decoder returns no rows for an account without orders', () => {
    expect(cut(page())).toEqual([])
  })

  it('the decoder returns the keys of the other sort', () => {
    const [document] = documents
    if (document === undefined) throw new Error('there are documents')
    const rows = cut(page(hit(document, 'updated_at_asc')), 'updated_at_asc')
    expect(rows).toMatchObject([{ key: document.updatedKey, id: document.id }])
  })

  it('the decoder keeps a name that JSON.parse confuses with an earlier one', () => {
    const written = ['{"tracking":{"x":"1","\\\\":"2"}}', '{"tracking":{"x":"1","\\"":"2"}}']
    const answer = page(
      ...documents.slice(0, 2).map((document, at) => {
        return hit(
          document,
          'created_at_desc',
          serializeDocument({ ...document, json: written[at] ?? '' }),
        )
      }),
    )
    const rows = cut(answer)
    expect(rows?.map(({ json }) => Buffer.from(json).toString())).toEqual(written)
  })

  it('the decoder returns an order whose keys are longer than 64 KiB', () => {
    const [document, next] = documents
    if (document === undefined || next === undefined) throw new Error('there are documents')
    const large = {
      ...document,
      filterKeys: { ...document.filterKeys, product_ids: manyProducts },
    }
    const hits = [large, next].map((one) => hit(one))
    expect(hits[0]).toMatch(/"frame":"[0-9a-f]{8}-[0-9a-f]{5}-[0-9a-f]{8}"/)
    const rows = cut(page(...hits))
    expect(rows?.map(({ json }) => json)).toEqual(
      [large, next].map(({ json }) => Buffer.from(json)),
    )
  })

  it('the decoder returns views of the response without a copy', () => {
    const answer = Buffer.from(whole)
    const rows = decodeRawHits(answer, { accountId: ACCOUNT, sort: 'created_at_desc' })
    expect(rows?.every(({ json }) => json.buffer === answer.buffer)).toBe(true)
  })

  it('the decoder returns the schema version of each row', () => {
    const hits = documents.map((document, at) =>
      hit(document, 'created_at_desc', serializeDocument({ ...document, schemaVersion: at })),
    )
    expect(cut(page(...hits))?.map(({ schemaVersion }) => schemaVersion)).toEqual([0, 1, 2])
  })

  it.each<[string, string]>([
    ['that timed out', whole.replace('"timed_out":false', '"timed_out":true')],
    ['of a shard that failed', whole.replace('"failed":0', '"failed":1')],
    ['with an additional field', whole.replace('"took":3', '"took":3,"phase_took":{}')],
    ['with insignificant whitespace', whole.replace('"hits":[', '"hits": [')],
    ['that is truncated', whole.slice(0, -1)],
    ['with trailing bytes', `${whole} `],
    ['of documents without checksum headers', whole.replaceAll(/"frame":"[^"]+",/g, '')],
    [
      'with a checksum header that does not match',
      whole.replace(/"frame":"./, (text) => text.replace(/.$/, 'g')),
    ],
    ['with a changed byte in an order', whole.replace('"currency":null', '"currency":nulL')],
    ['with a missing byte in an order', whole.replace('"currency":null', '"currency":nul')],
    [
      'with a checksum header whose length exceeds the response',
      whole.replace(/-[0-9a-f]{8}"/, '-ffffffff"'),
    ],
    [
      'with a checksum header that has a wrong character after the length of the keys',
      whole.replace(/(-[0-9a-f]{4})-/, '$1g-'),
    ],
    [
      'with a checksum header that has another digit in the length of the keys',
      whole.replace(/(-[0-9a-f]{4})-/, '$10-'),
    ],
    ['without a comma between two hits', page(`${first}${second}`)],
    ['with a comma before the first', page(`,${first}`)],
    ['with a comma after the last', page(`${first},`)],
    ['with a hit twice', page(first, first)],
    ['with two hits in the wrong order', page(second, first, third)],
    ['with a hit in another position', page(first.replace(/"sort":\[(\d+)/, '"sort":[1$1'))],
    [
      'with the order of another hit',
      page(first.replace(/"sort":\[(\d+),"ord_\d/, '"sort":[$1,"ord_9')),
    ],
  ])('the decoder falls back to JSON parsing for a response %s', (_what, answer) => {
    expect(answer).not.toBe(whole)
    expect(cut(answer)).toBeUndefined()
  })

  it('the decoder rejects rows of another account', () => {
    expect(cut(whole, 'created_at_desc', 'acc_2')).toBeUndefined()
  })
})

describe('the decoder of one document', () => {
  const document = hostileDocument(ACCOUNT, 0)
  const address = { accountId: ACCOUNT, orderId: document.id }
  const rawDocument = (source = serializeDocument(document)) =>
    `{"_index":"orders-v1","_id":"${ACCOUNT}:${document.id}","_version":3,"_seq_no":9,"_primary_term":1,"_routing":"${ACCOUNT}","found":true,"_source":${source}}`
  const decode = (response: string, requested = address) =>
    decodeRawDocument(Buffer.from(response), requested)

  it('the decoder returns one order as it was written', () => {
    expect(decode(rawDocument())).toMatchObject({
      schemaVersion: ORDER_SCHEMA_VERSION,
      json: Buffer.from(document.json),
    })
  })

  it('the decoder returns the schema version of one order', () => {
    expect(
      decode(rawDocument(serializeDocument({ ...document, schemaVersion: 0 })))?.schemaVersion,
    ).toBe(0)
  })

  it.each<[string, string]>([
    ['that reports a missing document', '{"_index":"orders-v1","_id":"acc_1:ord_0","found":false}'],
    ['of a document without a checksum header', rawDocument().replace(/"frame":"[^"]+",/, '')],
    ['that is truncated', rawDocument().slice(0, -1)],
    ['with trailing bytes', `${rawDocument()} `],
    ['with a changed byte', rawDocument().replace('"currency":null', '"currency":nulL')],
  ])('the decoder of one order falls back to JSON parsing for a response %s', (_what, answer) => {
    expect(decode(answer)).toBeUndefined()
  })

  it('the decoder never returns another order than the requested one', () => {
    expect(decode(rawDocument(), { ...address, orderId: 'ord_9' })).toBeUndefined()
    expect(decode(rawDocument(), { ...address, accountId: 'acc_2' })).toBeUndefined()
  })
})
