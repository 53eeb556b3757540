import { describe, expect, it } from 'vitest'
import { renderDocument } from '../../../../src/indexing/writer/order-document.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import type { DocumentState } from '../../../../src/stores/opensearch/client/documents/document-state.ts'
import { serializeDocument } from '../../../../src/stores/opensearch/order-documents/order-document-source.ts'
import { toVersionRecordSource } from '../../../../src/stores/opensearch/version-record-document.ts'
import { createIndexReader } from '../../../../src/stores/opensearch/write/index-reader.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { versionRecord } from '../../../support/orders/version-record.ts'
import {
  GENEROUS_MS,
  names,
  thrownBy,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import { type Behaviour, respond } from '../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

async function start(behaviour: Behaviour) {
  const { url, received } = await serve(behaviour)
  const { client } = connect([url])
  /** The states of the documents read, by id. */
  const states = new Map<string, DocumentState | null>()
  const stored = createIndexReader({
    client,
    indexOf: (target) => names[target],
    states: { recordState: (_target, id, state) => states.set(id, state) },
    deadlineMs: GENEROUS_MS,
  })
  return { stored, states, received }
}

const docs = (...of: object[]) => respond(200, { docs: of })
const missing = (_id: string) => ({ _id, found: false })

const SEEN = { _seq_no: 6, _primary_term: 2 }
const EXPECTED = { if_seq_no: 6, if_primary_term: 2 }

const record = versionRecord({
  version: 3,
  accountIds: ['acc_1', 'acc_2'],
  createdKey: null,
})
const recordDocument = {
  _id: 'ord_1',
  found: true,
  ...SEEN,
  _source: toVersionRecordSource(record),
}

const order = { id: 'ord_1', payment: { status: 'PAID' }, tracking: { src: 'bio' } }
const source = { account_id: 'acc_1', id: 'ord_1', shape: 1, updated_key: 2000, order }
const viewDocument = { _id: 'acc_1:ord_1', found: true, ...SEEN, _source: source }
const key = { accountId: 'acc_1', orderId: 'ord_1' }

describe('stored version records', () => {
  it('the reader returns the existing version records by order id', async () => {
    const { stored, received } = await start(docs(recordDocument, missing('ord_2')))
    expect(await stored.versionRecords(['ord_1', 'ord_2'])).toEqual(new Map([['ord_1', record]]))
    expect(received[0]?.path).toBe('/order-heads/_mget?preference=_primary')
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      docs: [{ _id: 'ord_1' }, { _id: 'ord_2' }],
    })
  })

  it('reading no version records sends no request', async () => {
    const { stored, received } = await start(docs())
    expect(await stored.versionRecords([])).toEqual(new Map())
    expect(received).toEqual([])
  })
})

describe('stored documents', () => {
  it('the reader returns existing documents from the shard of their account', async () => {
    const { stored, received } = await start(docs(missing('acc_2:ord_1'), viewDocument))
    const [view, ...others] = await stored.views([{ ...key, accountId: 'acc_2' }, key])
    expect(others).toEqual([])
    expect(view).toMatchObject({
      ...key,
      updatedKey: 2000,
      schemaVersion: 1,
      json: Buffer.from(JSON.stringify(order)),
    })
    expect(received[0]?.path).toBe('/orders/_mget?preference=_primary')
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      docs: [
        { _id: 'acc_2:ord_1', routing: 'acc_2' },
        { _id: 'acc_1:ord_1', routing: 'acc_1' },
      ],
    })
  })

  it('the reader reads the documents of a large order one at a time', async () => {
    const keys = Array.from({ length: 9 }, (_, n) => ({ ...key, accountId: `acc_${n}` }))
    const frame = '00000000-0000-00800000'
    const { stored, received } = await start((response, request) => {
      const wanted: { _id: string }[] = JSON.parse(request.body).docs
      const found = wanted.map(({ _id }) => {
        return {
          ...viewDocument,
          _id,
          _source: { ...source, account_id: _id.split(':')[0], frame },
        }
      })
      docs(...found)(response, request)
    })
    expect((await stored.views(keys)).map(({ accountId }) => accountId)).toEqual(
      keys.map(({ accountId }) => accountId),
    )
    expect(received).toHaveLength(9)
  })

  it('the reader returns tombstones as removed and records their states', async () => {
    const tombstone = { ...viewDocument, _source: { removed_key: 1000 } }
    const { stored, states } = await start(docs(tombstone))
    expect(await stored.views([key])).toEqual([{ ...key, removedKey: 1000 }])
    expect(states).toEqual(new Map([['acc_1:ord_1', EXPECTED]]))
  })

  it('reading no views sends no request', async () => {
    const { stored, received } = await start(docs())
    expect(await stored.views([])).toEqual([])
    expect(received).toEqual([])
  })
})

describe('the known state of a document', () => {
  it.each([
    ['a version record', 'versionRecords', 'ord_1', recordDocument, EXPECTED],
    ['a document', 'views', 'acc_1:ord_1', viewDocument, EXPECTED],
    ['a missing document', 'views', 'acc_1:ord_1', missing('acc_1:ord_1'), null],
  ] as const)('the reader records the state of %s', async (_what, read, _id, document, state) => {
    const { stored, states } = await start(docs(document))
    await (read === 'views' ? stored.views([key]) : stored.versionRecords(['ord_1']))
    expect(states).toEqual(new Map([[_id, state]]))
  })
})

describe('an incomplete response', () => {
  const error = { type: 'no_shard_available_action_exception', reason: 'x' }

  it.each<[string, Behaviour]>([
    ['has an error for a document', docs(recordDocument, { _id: 'ord_2', error })],
    ['omits a document', docs(recordDocument)],
    ['has an extra document', docs(recordDocument, recordDocument, recordDocument)],
    ['has a document without its id', docs(recordDocument, { found: false })],
    [
      'has a document without its sequence number',
      docs({ ...recordDocument, _seq_no: undefined }, missing('ord_2')),
    ],
    [
      'has a document without its primary term',
      docs({ ...recordDocument, _primary_term: undefined }, missing('ord_2')),
    ],
    ['is empty', respond(200, {})],
  ])('a read is unavailable when the response %s', async (_where, behaviour) => {
    const { stored } = await start(behaviour)
    expect(await thrownBy(stored.versionRecords(['ord_1', 'ord_2']))).toBeInstanceOf(Unavailable)
  })
})

describe('a document that cannot be compared', () => {
  it.each<[string, object]>([
    ['is not an order', { id: 'ord_1' }],
    ['contains no order', { ...source, order: null }],
    ['contains an order without a payment', { ...source, order: { id: 'ord_1' } }],
    ['is of another account', { ...source, account_id: 'acc_9' }],
    ['is of another order', { ...source, id: 'ord_9' }],
    ['has a non-numeric schema version', { ...source, shape: 1.5 }],
    ['has an invalid date', { ...source, updated_key: 2 ** 53 }],
  ])('a document that %s is returned as unreadable with its state', async (_how, _source) => {
    const { stored, states } = await start(docs({ ...viewDocument, _source }))
    expect(await stored.views([key])).toEqual([{ ...key, isUnreadable: true }])
    expect(states).toEqual(new Map([['acc_1:ord_1', EXPECTED]]))
  })
})

describe('the integrity of a stored document', () => {
  const { views } = changeOf(sourceOrder())
  const [view] = views
  if (view === undefined) throw new Error('an order without a view')
  const write = { ...view, orderId: 'ord_1', updatedAt: 'write-timestamp' as const }
  const whole = JSON.parse(serializeDocument(renderDocument(write, 2_000)))
  const { frame, ...unframed } = whole

  it.each<[string, object, boolean]>([
    ['as it was written', whole, true],
    ['without a checksum header, as written by earlier releases', unframed, true],
    [
      'with the checksum header of another document',
      { ...whole, frame: frame.replace(/^./, 'x') },
      false,
    ],
    ['with another search status', { ...unframed, status: 'TRIAL' }, false],
    ['without its write timestamp', { ...unframed, written_key: undefined }, false],
  ])(
    'a stored document counts as intact only when it matches its checksum: %s',
    async (_how, _source, expected) => {
      const { stored } = await start(docs({ ...viewDocument, _source }))
      const [found] = await stored.views([key])
      if (found === undefined || !('json' in found)) throw new Error('it cannot be read')
      expect(found.isIntact(view)).toBe(expected)
    },
  )
})
