import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { projectOrder } from '../../../../../src/indexing/projection/order-views.ts'
import { renderDocument } from '../../../../../src/indexing/writer/order-document.ts'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import { ORDER_SCHEMA_VERSION } from '../../../../../src/orders/order.ts'
import { NULL_INSTANT_KEY } from '../../../../../src/orders/order-store.ts'
import {
  documentId,
  isIntactSource,
  parseOrderSource,
  parseStoredDocument,
  serializeDocument,
  toPublicJson,
  toStoredJson,
} from '../../../../../src/stores/opensearch/order-documents/order-document-source.ts'
import { sourceOrders } from '../../../../support/orders/arbitraries.ts'
import { sourceOrder } from '../../../../support/orders/source-order.ts'

const WRITE_TIMESTAMP = Date.parse('2026-05-01T00:00:00Z')

/** The documents of an order, one for each account. */
const documentsOf = (source: Parameters<typeof projectOrder>[0]) =>
  projectOrder(source).views.map((view) =>
    renderDocument({ ...view, orderId: source.id, updatedAt: 'write-timestamp' }, WRITE_TIMESTAMP),
  )

/** The document of the owner of an order with these tracking keys. */
function tracked(tracking: string) {
  const source = { ...sourceOrder(), tracking: JSON.parse(tracking) }
  const [document] = documentsOf(source)
  if (document === undefined) throw new Error('not visible')
  return document
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

describe('the id of a document', () => {
  it('a document id is the account and the order', () => {
    expect(documentId({ accountId: 'acc_1', orderId: 'ord_9' })).toBe('acc_1:ord_9')
  })

  it('a document id is unique, since neither part has a colon', () => {
    const ids = ['acc_1', 'acc_1-', 'acc'].flatMap((accountId) =>
      ['ord_1', 'ord_11'].map((orderId) => documentId({ accountId, orderId })),
    )
    expect(new Set(ids).size).toBe(6)
  })
})

describe('a serialised document', () => {
  it('a serialised document has the search keys, then the order', () => {
    const document = tracked('{"src":"bio"}')
    const { frame, order, ...keys } = JSON.parse(serializeDocument(document))
    expect(frame).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{8}$/)
    expect(keys).toEqual({
      account_id: 'acc_1',
      id: 'ord_1',
      shape: ORDER_SCHEMA_VERSION,
      status: 'PAID',
      payment_method: 'PIX',
      created_key: Date.parse('2026-03-01T12:00:00Z'),
      updated_key: WRITE_TIMESTAMP,
      written_key: WRITE_TIMESTAMP,
      paid_key: NULL_INSTANT_KEY,
      customer_email: ['rita@exemplo.com.br'],
      customer_document: [],
      product_ids: ['prod_1'],
    })
    expect(order).toEqual(JSON.parse(document.json))
  })

  it('a serialised document has the bytes of the order on one line', () => {
    fc.assert(
      fc.property(sourceOrders, (source) => {
        for (const document of documentsOf(source)) {
          const sent = serializeDocument(document)
          expect(sent.endsWith(`,"order":${document.json}}`)).toBe(true)
          expect(sent).not.toContain('\n')
        }
      }),
    )
  })

  it('a serialised document keeps the bytes of the order, even where JSON has alternatives', () => {
    const json = '{ "amount" : 1.50e2,\t"name":"\\u0041" }'
    expect(serializeDocument({ ...tracked('{}'), json })).toContain(json)
  })

  it('a serialised document is parsed back unchanged', () => {
    fc.assert(
      fc.property(sourceOrders, (source) => {
        for (const document of documentsOf(source)) {
          const back = JSON.parse(serializeDocument(document))
          expect(text(toPublicJson(back))).toBe(document.json)
        }
      }),
    )
  })

  it.each([
    ['a key of the prototype', '{"__proto__":"x","constructor":"y","toString":"z"}'],
    ['an empty key', '{"":"x"}'],
    ['keys that are numbers', '{"2":"b","1":"a"}'],
    ['a lone surrogate', '{"src":"\\ud83d"}'],
    ['line separators', '{"src":"a\\u2028b\\u2029c\\nd"}'],
    ['the name of its own field', '{"order":"x\\"order\\":{}"}'],
  ])(
    'a serialised document is parsed back unchanged with %s in its tracking',
    (_name, tracking) => {
      const document = tracked(tracking)
      const back = JSON.parse(serializeDocument(document))
      expect(text(toPublicJson(back))).toBe(document.json)
    },
  )
})

const SOURCE = {
  account_id: 'acc_1',
  id: 'ord_1',
  shape: ORDER_SCHEMA_VERSION,
  updated_key: 5,
  order: {},
}

describe('a stored document', () => {
  it('a stored document is parsed as far as it is readable', () => {
    expect(parseOrderSource({ ...SOURCE, written_key: 6, status: 'PAID' })).toEqual(SOURCE)
  })

  it.each([ORDER_SCHEMA_VERSION, ORDER_SCHEMA_VERSION - 1])(
    'a stored document that does not match its checksum is not returned, in schema version %i',
    (schemaVersion) => {
      const written = JSON.parse(serializeDocument({ ...tracked('{"src":"bio"}'), schemaVersion }))
      const damaged = { ...written, order: { ...written.order, amount_total: 1 } }
      expect(() => toPublicJson(written)).not.toThrow()
      expect(() => toPublicJson(damaged)).toThrow('acc_1:ord_1 does not match its checksum')
    },
  )

  it('a stored document is copied with the exact bytes of its order', () => {
    fc.assert(
      fc.property(sourceOrders, (source) => {
        for (const document of documentsOf(source)) {
          const sent = Buffer.from(serializeDocument(document))
          expect(parseStoredDocument(sent)).toEqual(document)
          expect(isIntactSource(sent)).toBe(true)
        }
      }),
    )
  })

  it('a stored document is copied byte for byte, even where JSON has alternatives', () => {
    const { json } = tracked('{"src":"bio"}')
    const document = { ...tracked('{}'), json: json.replace('"bio"', '\t"\\u0062io" ') }
    expect(parseStoredDocument(Buffer.from(serializeDocument(document)))).toEqual(document)
  })

  it('a stored document that was rewritten with the same values is copied with the original order', () => {
    const document = tracked('{"src":"bio","\\"":"x"}')
    const rewritten = Buffer.from(JSON.stringify(JSON.parse(serializeDocument(document)), null, 1))
    expect(parseStoredDocument(rewritten)).toEqual(document)
    expect(isIntactSource(rewritten)).toBe(true)
  })

  it('a stored document without a checksum is copied with search keys from its order', () => {
    const document = tracked('{"src":"bio"}')
    const { frame: _, status: __, ...keys } = JSON.parse(serializeDocument(document))
    const unframed = Buffer.from(JSON.stringify({ ...keys, payment_method: 'BOLETO' }))
    expect(parseStoredDocument(unframed)).toEqual(document)
    expect(isIntactSource(unframed)).toBe(true)
  })

  it.each<[what: string, of: (order: object) => object]>([
    ['another value', (order) => ({ ...order, amount_total: 1 })],
    ['another name in its tracking', (order) => ({ ...order, tracking: { scr: 'bio' } })],
  ])('a stored document is not copied when its order has %s', (_what, of) => {
    const written = JSON.parse(serializeDocument(tracked('{"src":"bio"}')))
    const damaged = Buffer.from(JSON.stringify({ ...written, order: of(written.order) }))
    expect(parseStoredDocument(damaged)).toBeNull()
    expect(isIntactSource(damaged)).toBe(false)
  })

  it('a stored document is returned in the current schema version', () => {
    const document = tracked('{"src":"bio"}')
    const { frame: _frame, order, ...keys } = JSON.parse(serializeDocument(document))
    const { utm: _, ...older } = order
    const stored = { ...keys, shape: ORDER_SCHEMA_VERSION - 1, order: older }
    expect(JSON.parse(text(toStoredJson(parseOrderSource(stored))))).toEqual(older)
    expect(JSON.parse(text(toPublicJson(stored)))).toEqual({ ...older, utm: null })
  })

  it.each([
    ['that is missing', undefined],
    ['that is null', null],
    ['that is a text', 'order'],
    ['that is a list', []],
    ['without anything', {}],
    ['without an order', { ...SOURCE, order: undefined }],
    ['whose order is null', { ...SOURCE, order: null }],
    ['whose order is a text', { ...SOURCE, order: '{}' }],
    ['without an account', { ...SOURCE, account_id: undefined }],
    ['whose account is a list', { ...SOURCE, account_id: ['acc_1'] }],
    ['without an id', { ...SOURCE, id: undefined }],
    ['without a schema version', { ...SOURCE, shape: undefined }],
    ['whose schema version is a text', { ...SOURCE, shape: '1' }],
    ['without its key', { ...SOURCE, updated_key: undefined }],
    ['whose key is null', { ...SOURCE, updated_key: null }],
  ])('a value %s cannot be parsed as an order', (_name, source) => {
    expect(() => parseOrderSource(source)).toThrow(Unavailable)
    expect(() => toPublicJson(source)).toThrow(Unavailable)
    expect(parseStoredDocument(Buffer.from(JSON.stringify([source]).slice(1, -1)))).toBeNull()
  })
})
