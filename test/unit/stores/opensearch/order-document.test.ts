import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { projectOrder } from '../../../../src/indexing/projection/order-views.ts'
import { renderDocument } from '../../../../src/indexing/writer/order-document.ts'
import { Unavailable } from '../../../../src/lib/unavailable.ts'
import { ORDER_SCHEMA_VERSION } from '../../../../src/orders/order.ts'
import {
  documentId,
  isIntactSource,
  parseOrderSource,
  parseStoredDocument,
  serializeDocument,
  toPublicJson,
  toStoredJson,
} from '../../../../src/stores/opensearch/order-document.ts'
import { sourceOrders } from '../../../support/orders/arbitraries.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'

const STAMP = Date.parse('2026-05-01T00:00:00Z')

/** The documents of an order, one for each account. */
const documentsOf = (source: Parameters<typeof projectOrder>[0]) =>
  projectOrder(source).views.map((view) =>
    renderDocument({ ...view, orderId: source.id, updatedAt: 'write-timestamp' }, STAMP),
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
  it('is the account and the order', () => {
    expect(documentId({ accountId: 'acc_1', orderId: 'ord_9' })).toBe('acc_1:ord_9')
  })

  it('is another one for every account and order: neither has a colon', () => {
    const ids = ['acc_1', 'acc_1-', 'acc'].flatMap((accountId) =>
      ['ord_1', 'ord_11'].map((orderId) => documentId({ accountId, orderId })),
    )
    expect(new Set(ids).size).toBe(6)
  })
})

describe('a document as it is sent', () => {
  it('has the keys that are searched, and the order after them', () => {
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
      updated_key: STAMP,
      written_key: STAMP,
    })
    expect(order).toEqual(JSON.parse(document.json))
  })

  it('carries the bytes of the order as they are, on one line', () => {
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

  it('carries them also where JSON has other bytes for the same', () => {
    const json = '{ "amount" : 1.50e2,\t"name":"\\u0041" }'
    expect(serializeDocument({ ...tracked('{}'), json })).toContain(json)
  })

  it('comes back as it was sent', () => {
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
    ['half a surrogate pair', '{"src":"\\ud83d"}'],
    ['separators of lines', '{"src":"a\\u2028b\\u2029c\\nd"}'],
    ['the name of the field that it stands in', '{"order":"x\\"order\\":{}"}'],
  ])('comes back as it was sent with %s in its tracking', (_name, tracking) => {
    const document = tracked(tracking)
    const back = JSON.parse(serializeDocument(document))
    expect(text(toPublicJson(back))).toBe(document.json)
  })
})

const SOURCE = {
  account_id: 'acc_1',
  id: 'ord_1',
  shape: ORDER_SCHEMA_VERSION,
  updated_key: 5,
  order: {},
}

describe('a stored document', () => {
  it('is read as far as anything is read of it', () => {
    expect(parseOrderSource({ ...SOURCE, written_key: 6, status: 'PAID' })).toEqual(SOURCE)
  })

  it.each([ORDER_SCHEMA_VERSION, ORDER_SCHEMA_VERSION - 1])(
    'is not shown where it is not as it was written, in shape %i',
    (schemaVersion) => {
      const written = JSON.parse(serializeDocument({ ...tracked('{"src":"bio"}'), schemaVersion }))
      const damaged = { ...written, order: { ...written.order, amount_total: 1 } }
      expect(() => toPublicJson(written)).not.toThrow()
      expect(() => toPublicJson(damaged)).toThrow('acc_1:ord_1 does not match its checksum')
    },
  )

  it('is copied as the document that was written, its order byte for byte', () => {
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

  it('is copied byte for byte also where JSON has other bytes for the same', () => {
    const { json } = tracked('{"src":"bio"}')
    const document = { ...tracked('{}'), json: json.replace('"bio"', '\t"\\u0062io" ') }
    expect(parseStoredDocument(Buffer.from(serializeDocument(document)))).toEqual(document)
  })

  it('is copied with the order that was written where it was rewritten with the same values', () => {
    const document = tracked('{"src":"bio","\\"":"x"}')
    const rewritten = Buffer.from(JSON.stringify(JSON.parse(serializeDocument(document)), null, 1))
    expect(parseStoredDocument(rewritten)).toEqual(document)
    expect(isIntactSource(rewritten)).toBe(true)
  })

  it('of before there were frames is copied with what is searched taken from its order', () => {
    const document = tracked('{"src":"bio"}')
    const { frame: _, status: __, ...keys } = JSON.parse(serializeDocument(document))
    const unframed = Buffer.from(JSON.stringify({ ...keys, payment_method: 'BOLETO' }))
    expect(parseStoredDocument(unframed)).toEqual(document)
    expect(isIntactSource(unframed)).toBe(true)
  })

  it.each<[what: string, of: (order: object) => object]>([
    ['another value', (order) => ({ ...order, amount_total: 1 })],
    ['another name in its tracking', (order) => ({ ...order, tracking: { scr: 'bio' } })],
  ])('is not copied where its order has %s', (_what, of) => {
    const written = JSON.parse(serializeDocument(tracked('{"src":"bio"}')))
    const damaged = Buffer.from(JSON.stringify({ ...written, order: of(written.order) }))
    expect(parseStoredDocument(damaged)).toBeNull()
    expect(isIntactSource(damaged)).toBe(false)
  })

  it('is rendered as it is stored, and shown in the shape of today', () => {
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
    ['without a shape', { ...SOURCE, shape: undefined }],
    ['whose shape is a text', { ...SOURCE, shape: '1' }],
    ['without its key', { ...SOURCE, updated_key: undefined }],
    ['whose key is null', { ...SOURCE, updated_key: null }],
  ])('%s is no order', (_name, source) => {
    expect(() => parseOrderSource(source)).toThrow(Unavailable)
    expect(() => toPublicJson(source)).toThrow(Unavailable)
    expect(parseStoredDocument(Buffer.from(JSON.stringify([source]).slice(1, -1)))).toBeNull()
  })
})
