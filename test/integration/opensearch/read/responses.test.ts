import { inspect } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { ORDER_SCHEMA_VERSION } from '../../../../src/orders/order.ts'
import { serializeDocument } from '../../../../src/stores/opensearch/order-documents/order-document-source.ts'
import type { DecodePath } from '../../../../src/stores/opensearch/read/decode-orders.ts'
import { createOpenSearchOrderStore } from '../../../../src/stores/opensearch/read/order-store.ts'
import { hostileDocument } from '../../../support/orders/hostile-orders.ts'
import {
  GENEROUS_MS,
  names,
  SHORT_MS,
  thrownBy,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import {
  type Behaviour,
  type ReceivedRequest,
  reset,
  resetInBody,
  respond,
  respondError,
  respondText,
  stall,
} from '../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

const ORDER = '{"id":"ord_1","tracking":{"__proto__":"x","constructor":{"prototype":"y"}}}'
const SOURCE = `{"account_id":"acc_1","id":"ord_1","shape":${ORDER_SCHEMA_VERSION},"created_key":1000,"updated_key":2000,"order":${ORDER}}`
const FOUND = `{"found":true,"_seq_no":4,"_primary_term":1,"_source":${SOURCE}}`
const TOMBSTONE = '{"found":true,"_seq_no":5,"_primary_term":1,"_source":{"removed_key":3000}}'
const HIT = `{"_id":"acc_1:ord_1","sort":[1000,"ord_1"],"_source":${SOURCE}}`
const SHARD = { total: 1, successful: 1, skipped: 0, failed: 0 }
const WHOLE = `{"timed_out":false,"_shards":${JSON.stringify(SHARD)},"hits":{"hits":[${HIT}]}}`

const found = respondText(200, FOUND)
const whole = respondText(200, WHOLE)
const empty = respondText(200, WHOLE.replace(HIT, ''))
const text = (bytes: Uint8Array | null | undefined) => bytes && Buffer.from(bytes).toString()

const preferenceOf = ({ path }: ReceivedRequest) =>
  new URL(path, 'http://x').searchParams.get('preference') ?? 'none'

describe('one order', () => {
  it('get returns the document, including keys named like prototype members', async () => {
    const { url } = await serve(found)
    expect(text(await connect([url]).get())).toBe(ORDER)
  })

  it('get requests the order from the shard of its account', async () => {
    const { url, received } = await serve(respondText(200, FOUND.replaceAll('ord_1', 'ord_a-Z_9')))
    await connect([url]).get('ord_a-Z_9')
    const { pathname, search } = new URL(received[0]?.path ?? '', url)
    expect(decodeURIComponent(pathname)).toBe('/orders/_doc/acc_1:ord_a-Z_9')
    expect(search).toBe('?routing=acc_1')
  })

  it('get returns null for a missing order', async () => {
    const { url } = await serve(respond(404, { _id: 'acc_1:ord_1', found: false }))
    expect(await connect([url]).get()).toBeNull()
  })

  it.each<[string, Behaviour]>([
    ['no found field', respond(200, { _id: 'acc_1:ord_1', _source: {} })],
    ['an empty 404', respond(404, {})],
    ['a 404 for the path', respond(404, { error: 'no handler found', status: 404 })],
    ['a 404 for the index', respondError(404, 'index_not_found_exception')],
    ['an order without its sequence number', respondText(200, FOUND.replace('_seq_no', 'x'))],
    ['an order without its primary term', respondText(200, FOUND.replace('_primary_term', 'x'))],
    ['a document that is not an order', respondText(200, FOUND.replace('"order"', '"odor"'))],
    ['an order of another account', respondText(200, FOUND.replace('"acc_1"', '"acc_2"'))],
    [
      'another order',
      respondText(200, FOUND.replace('"id":"ord_1","shape"', '"id":"ord_2","shape"')),
    ],
  ])('get is unavailable, not empty, when the node returns %s', async (_what, behaviour) => {
    const { url } = await serve(behaviour)
    expect(await thrownBy(connect([url]).get())).toBeInstanceOf(Unavailable)
  })
})

it('getMany requests the orders from the primary copies, and distinguishes removed from missing ones', async () => {
  const { url, received } = await serve(
    respondText(
      200,
      `{"docs":[{"_id":"acc_1:ord_1",${FOUND.slice(1)},{"_id":"acc_1:ord_2","found":false},{"_id":"acc_1:ord_3",${TOMBSTONE.slice(1)}]}`,
    ),
  )
  const { client } = connect([url])
  const store = createOpenSearchOrderStore({
    client,
    names,
    deadlineMs: GENEROUS_MS,
    onDecode() {},
  })
  const keys = ['ord_1', 'ord_2', 'ord_3'].map((orderId) => ({ accountId: 'acc_1', orderId }))
  const [order, ...others] = await store.getMany(keys)
  expect(order instanceof Uint8Array && text(order)).toBe(ORDER)
  expect(others).toEqual(['missing', null])
  expect(received.map(preferenceOf)).toEqual(['_primary'])
})

it.each([
  ['removed', TOMBSTONE],
  ['unreadable', '{"error":{"type":"no_shard_available_action_exception","reason":"none"}}'],
  ['missing', '{"found":false}'],
])(
  'getMany reads eight views at a time of an order whose first view is %s',
  async (_what, first) => {
    const large = FOUND.replace('"order":{', `"order":{"padding":"${'x'.repeat(2_000_000)}",`)
    const counts: number[] = []
    const { url } = await serve((response, request) => {
      const { docs }: { docs: { _id: string }[] } = JSON.parse(request.body)
      counts.push(docs.length)
      const rendered = docs.map(({ _id }) => {
        const [accountId = ''] = _id.split(':')
        const view = accountId === 'acc_0' ? first : large.replace('acc_1', accountId)
        return `{"_id":"${_id}",${view.slice(1)}`
      })
      respondText(200, `{"docs":[${rendered}]}`)(response, request)
    })
    const { client } = connect([url])
    const store = createOpenSearchOrderStore({ client, names, deadlineMs: GENEROUS_MS })
    const keys = Array.from({ length: 12 }, (_, n) => ({ accountId: `acc_${n}`, orderId: 'ord_1' }))
    const [, ...others] = await store.getMany(keys)
    expect(others.every((view) => view instanceof Uint8Array)).toBe(true)
    expect(counts).toEqual([1, 8, 3])
  },
)

describe('getMany while a shard has no copy', () => {
  const keys = ['acc_1', 'acc_2'].map((accountId) => ({ accountId, orderId: 'ord_1' }))
  const DOCUMENT = `{"_id":"acc_1:ord_1",${FOUND.slice(1)}`
  const failed = (id: string) =>
    `{"_id":"${id}:ord_1","error":{"type":"no_shard_available_action_exception","reason":"No shard available"}}`

  async function getMany(...docs: string[]) {
    const { url } = await serve(respondText(200, `{"docs":[${docs}]}`))
    const { client } = connect([url])
    return createOpenSearchOrderStore({ client, names, deadlineMs: GENEROUS_MS }).getMany(keys)
  }

  it('the orders of other shards are returned', async () => {
    const [order, unread] = await getMany(DOCUMENT, failed('acc_2'))
    expect(order instanceof Uint8Array && text(order)).toBe(ORDER)
    expect(unread).toBe('unreadable')
  })

  it('it is unavailable when no order could be read', async () => {
    expect(await thrownBy(getMany(failed('acc_1'), failed('acc_2')))).toEqual(
      new Unavailable('OpenSearch could not read a document of orders: No shard available'),
    )
  })
})

describe('findPage', () => {
  it('findPage returns the hits, including keys named like prototype members', async () => {
    const { url } = await serve(whole)
    const [order] = await connect([url]).findPage()
    expect(order).toMatchObject({ key: 1000, id: 'ord_1' })
    expect(text(order?.json)).toBe(ORDER)
  })

  it('findPage searches the shard of the account and rejects partial results', async () => {
    const { url, received } = await serve(empty)
    await connect([url]).findPage('acc_-Z_9')
    const { pathname, searchParams } = new URL(received[0]?.path ?? '', url)
    expect(pathname).toBe('/orders/_search')
    expect(Object.fromEntries(searchParams)).toMatchObject({
      routing: 'acc_-Z_9',
      allow_partial_search_results: 'false',
    })
  })

  it('findPage reads the primary when writes must appear in order', async () => {
    const { url, received } = await serve(empty)
    const { findPage, latestWrite } = connect([url])
    await findPage('acc_1', 'updated_at_asc')
    await latestWrite()
    expect(received.map(preferenceOf)).toEqual(['_primary', '_primary'])
  })

  it('findPage otherwise reads one shard copy per account', async () => {
    const { url, received } = await serve(empty)
    const { findPage } = connect([url])
    for (const accountId of ['acc_1', 'acc_2', 'acc_1', '_local']) await findPage(accountId)
    const [one, other, again, odd] = received.map(preferenceOf)
    expect(one).toBe(again)
    expect(one).not.toBe(other)
    for (const preference of [one, other, odd]) expect(preference).toMatch(/^[^_]/)
  })

  it.each([
    ['that timed out', '"timed_out":false', '"timed_out":true'],
    ['without shards', '"total":1,"successful":1', '"total":0,"successful":0'],
    ['with a failed shard', '"failed":0', '"failed":1'],
    ['whose document is not an order', '"order":', '"odor":'],
    ['with an order of another account', '"account_id":"acc_1"', '"account_id":"acc_2"'],
    ['whose hit is another order', '"id":"ord_1","shape"', '"id":"ord_2","shape"'],
    ['whose sort keys differ', '"created_key":1000', '"created_key":1001'],
    ['with a duplicate hit', HIT, `${HIT},${HIT}`],
    ['that is truncated', ']}}', ']}'],
  ])('findPage is unavailable on a response %s', async (_what, part, other) => {
    const { url } = await serve(respondText(200, WHOLE.replace(part, other)))
    expect(await thrownBy(connect([url]).findPage())).toBeInstanceOf(Unavailable)
  })
})

describe('the decode path', () => {
  const decodePaths: DecodePath[] = []
  const onDecode = (path: DecodePath) => decodePaths.push(path)
  beforeEach(() => decodePaths.splice(0))

  const order = hostileDocument('acc_1', 0)
  const head = `{"took":1,"timed_out":false,"_shards":${JSON.stringify(SHARD)},"hits":{"max_score":null,"hits":[`
  const pageOf = (schemaVersion: number) =>
    `${head}{"_index":"orders-v1","_id":"acc_1:${order.id}","_score":null,"_routing":"acc_1","_source":${serializeDocument({ ...order, schemaVersion })},"sort":[${order.createdKey},"${order.id}"]}]}}`

  it.each<[DecodePath, string]>([
    ['cut', pageOf(ORDER_SCHEMA_VERSION)],
    ['older_shape', pageOf(ORDER_SCHEMA_VERSION - 1)],
    ['unexpected', `${pageOf(ORDER_SCHEMA_VERSION)} `],
  ])('the decode path of a page is counted as %s', async (reading, page) => {
    const { url } = await serve(respondText(200, page))
    const [row] = await connect([url], { onDecode }).findPage()
    expect(text(row?.json)).toBe(order.json)
    expect(decodePaths).toEqual([reading])
  })

  it('the decode path of a single order is counted', async () => {
    const { url } = await serve(found)
    await connect([url], { onDecode }).get()
    expect(decodePaths).toEqual(['unexpected'])
  })

  it('the decode path of a failed decode is counted', async () => {
    const { url } = await serve(
      respondText(200, pageOf(ORDER_SCHEMA_VERSION).replace('"failed":0', '"failed":1')),
    )
    expect(await thrownBy(connect([url], { onDecode }).findPage())).toBeInstanceOf(Unavailable)
    expect(decodePaths).toEqual(['unexpected'])
  })
})

describe('an error', () => {
  const PERSONAL = { customer: { name: 'Rita Lima', email: 'rita@exemplo.com.br' } }

  it.each<[string, Behaviour]>([
    ['gets no response', stall],
    ['is reset', reset],
    ['is reset within the response', resetInBody],
    ['is rejected', respondError(400, 'mapper_parsing_exception')],
    ['is blocked', respondError(503, 'cluster_block_exception')],
    ['gets its own text as invalid JSON', respondText(200, `{"x":"${PERSONAL.customer.email}`)],
    ['gets its own text before the JSON', respondText(200, `rita@exemplo.com.br{"Rita Lima"}`)],
  ])('the error of a write that %s contains nothing of the document', async (_what, behaviour) => {
    const { url } = await serve(behaviour)
    const error = await thrownBy(connect([url], { deadlineMs: SHORT_MS }).write(PERSONAL))
    expect(error).toBeInstanceOf(Error)
    expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/rita/i)
  })

  it('a read error contains nothing of the documents', async () => {
    const broken = WHOLE.replace('"y"', '"rita@exemplo.com.br"!')
    const { url } = await serve(respondText(200, broken))
    const error = await thrownBy(connect([url]).findPage())
    expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/rita/i)
  })
})
