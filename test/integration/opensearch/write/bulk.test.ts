import { describe, expect, it } from 'vitest'
import { DocumentRejectedError } from '../../../../src/indexing/writer/writer-errors.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import {
  FIRST_WRITE_TIMESTAMP,
  failed,
  items,
  put,
  QUERY,
  remove,
  sent,
  useBulkSenders,
  written,
} from '../../../support/stores/scripted/scripted-bulk-sender.ts'
import { acceptAll, actionsOf } from '../../../support/stores/scripted/scripted-cluster.ts'
import { thrownBy } from '../../../support/stores/scripted/scripted-nodes.ts'
import {
  type Behaviour,
  respond,
  respondError,
} from '../../../support/stores/scripted/scripted-server.ts'

const startBulkSender = useBulkSenders()

const EIGHT_MIB = 8 * 1024 * 1024

/** The bulk sender of a writer with one target. */
const start = (...behaviours: Behaviour[]) => startBulkSender(['orders-v1'], ...behaviours)

describe('a bulk', () => {
  it('a bulk targets the alias of its epoch and carries it as opaque id', async () => {
    const { send, received } = await start(acceptAll)
    await send('orders', [put('a')])
    await send('versionRecords', [put('a')])
    const [orders, heads] = received
    expect([orders?.path, heads?.path]).toEqual([
      `/orders-w-3-v1/_bulk?${QUERY}`,
      `/order-heads-w-3-v1/_bulk?${QUERY}`,
    ])
    expect([orders, heads].map((one) => one?.headers['x-opaque-id'])).toEqual([
      'orders-w-3',
      'orders-w-3',
    ])
  })

  it('a bulk of orders takes a write timestamp, a bulk of version records does not', async () => {
    const { send, received } = await start(acceptAll)
    await send('orders', [put('a'), put('b')])
    await send('versionRecords', [put('a')])
    await send('orders', [put('c')])
    expect(received.map(sent)).toEqual([
      ['a', '@1000', 'b', '@1000'],
      ['a', '@0'],
      ['c', '@1001'],
    ])
  })

  it('a bulk reports the last written document by account and write timestamp', async () => {
    const { send, lastWrite } = await start(acceptAll)
    expect(lastWrite()).toBeNull()
    const address = { _id: 'a', routing: 'acc_1' }
    await send('orders', [{ ...put('a'), address }, remove('b')])
    await send('versionRecords', [put('a')])
    expect(lastWrite()).toEqual({ accountId: 'acc_1', writeTimestamp: FIRST_WRITE_TIMESTAMP })
  })

  it('an empty bulk is not sent', async () => {
    const { send, received } = await start(acceptAll)
    await send('orders', [])
    expect(received).toEqual([])
  })

  it('a removal leaves a tombstone with its write timestamp', async () => {
    const { send, received } = await start(acceptAll)
    await send('orders', [remove('a')])
    expect(received.flatMap(sent)).toEqual(['a', `@-${FIRST_WRITE_TIMESTAMP}`])
  })
})

describe('an item', () => {
  const SEEN = { if_seq_no: 6, if_primary_term: 2 }
  const EARLIER_ONLY = { version: FIRST_WRITE_TIMESTAMP, version_type: 'external' }

  it('an item replaces or removes earlier documents only', async () => {
    const { send, states, received } = await start(acceptAll)
    states.recordState('orders', 'a', SEEN)
    const routing = 'acc_1'
    const source = () => '{}'
    await send('orders', [{ orderId: 'a', address: { _id: 'a', routing }, source }, remove('b')])
    expect(received.flatMap(actionsOf)).toEqual([
      { name: 'index', _id: 'a', routing, ...EARLIER_ONLY },
      { name: 'index', _id: 'b', ...EARLIER_ONLY },
    ])
  })

  it('an item does not expect the state of a version record with an equal id', async () => {
    const { send, states, received } = await start(acceptAll)
    states.recordState('versionRecords', 'a', SEEN)
    await send('orders', [put('a')])
    expect(received.flatMap(actionsOf)).toEqual([{ name: 'index', _id: 'a', ...EARLIER_ONLY }])
  })

  it('an item recreates a document that the previous item removed', async () => {
    const { send, received } = await start(acceptAll)
    await send('orders', [remove('a')])
    await send('orders', [put('a')])
    expect(received.flatMap(sent)).toEqual(['a', '@-1000', 'a', '@1001'])
  })

  it('a resent version record expects the same state', async () => {
    const { send, states, received } = await start(
      items({ index: { _id: 'a', status: 429, error: { type: 'rejected', reason: 'full' } } }),
      acceptAll,
    )
    states.recordState('versionRecords', 'a', SEEN)
    await send('versionRecords', [put('a')])
    const action = { name: 'index', _id: 'a', ...SEEN }
    expect(received.map(actionsOf)).toEqual([[action], [action]])
  })
})

describe('an item rejected for load', () => {
  it('an item rejected for load is sent again alone with a new write timestamp', async () => {
    const rejected = (_id: string) => failed(_id, 429, 'rejected_execution_exception')
    const { send, received } = await start(
      items(written('a'), rejected('b'), written('c'), rejected('d')),
      items(rejected('b'), written('d')),
      acceptAll,
    )
    await send(
      'orders',
      ['a', 'b', 'c', 'd'].map((id) => put(id)),
    )
    expect(received.slice(1).map(sent)).toEqual([
      ['b', '@1001', 'd', '@1001'],
      ['b', '@1002'],
    ])
  })

  it('a bulk rejected as a whole is not sent again', async () => {
    const { send, received } = await start(respondError(429, 'circuit_breaking_exception'))
    expect(await thrownBy(send('orders', [put('a')]))).toBeInstanceOf(Unavailable)
    expect(received).toHaveLength(1)
  })
})

describe('a bulk is of unknown outcome', () => {
  it.each([
    ['when the alias of its epoch is gone', items(failed('a', 404, 'index_not_found_exception'))],
    ['when the index is closed', items(failed('a', 400, 'index_closed_exception'))],
    ['when the index blocks writes', items(failed('a', 403, 'cluster_block_exception'))],
    ['when a node failed', items(failed('a', 500, 'engine_exception'))],
    ['when a copy was missing', items(failed('a', 503, 'unavailable_shards_exception'))],
    ['when a document changed', items(failed('a', 409, 'version_conflict_engine_exception'))],
    ['when the response omits an item', items()],
    ['when the response has an extra item', items(written('a'), written('b'))],
    ['when the response has no items', respond(200, { took: 1 })],
    ['when an item has no status', items({})],
    ['when the disk is full', items(failed('a', 429, 'cluster_block_exception'))],
  ])('the outcome of a bulk is unknown %s', async (_when, behaviour) => {
    const { send, received } = await start(behaviour)
    expect(await thrownBy(send('orders', [put('a')]))).toBeInstanceOf(Unavailable)
    expect(received).toHaveLength(1)
  })
})

describe('a rejected document', () => {
  it('a rejected document is reported with its order, not as an outage', async () => {
    const type = 'mapper_parsing_exception'
    const { send, received } = await start(items(written('a'), failed('b', 400, type)))
    const error = await thrownBy(send('orders', [put('a'), put('b')]))
    expect(error).toBeInstanceOf(DocumentRejectedError)
    expect(error).toMatchObject({ orderId: 'b' })
    expect(String(error)).toContain(`b: 400 ${type}: why ${type}`)
    expect(received).toHaveLength(1)
  })

  it('a document rejected for an unmapped field stops the writer and does not blame the order', async () => {
    const { send } = await start(items(failed('a', 400, 'strict_dynamic_mapping_exception')))
    const error = await thrownBy(send('orders', [put('a')]))
    expect(error).not.toBeInstanceOf(Unavailable)
    expect(error).not.toBeInstanceOf(DocumentRejectedError)
    expect(String(error)).toContain('run "index init", which adds it')
  })
})

describe('a bulk that is too large for one request', () => {
  const third = 'x'.repeat(EIGHT_MIB / 3)

  it('a large bulk is split in order, each part with a later write timestamp', async () => {
    const { send, received } = await start(acceptAll)
    await send(
      'orders',
      ['a', 'b', 'c', 'd', 'e'].map((id) => put(id, third)),
    )
    expect(received.map(sent)).toEqual([
      ['a', '@1000', 'b', '@1000'],
      ['c', '@1001', 'd', '@1001'],
      ['e', '@1002'],
    ])
    for (const { body } of received) expect(body.length).toBeLessThanOrEqual(EIGHT_MIB)
  })

  it('a bulk request stays within its limit, and a larger item is sent alone', async () => {
    const { send, received } = await start(acceptAll)
    await send('orders', [put('a'), put('b', third.repeat(4)), put('c')])
    expect(received.map(sent)).toEqual([
      ['a', '@1000'],
      ['b', '@1001'],
      ['c', '@1002'],
    ])
  })

  it('a split bulk resends rejected items before the remaining parts', async () => {
    const { send, received } = await start(
      items(failed('a', 429, 'rejected_execution_exception'), written('b')),
      acceptAll,
    )
    await send(
      'orders',
      ['a', 'b', 'c'].map((id) => put(id, third)),
    )
    expect(received.slice(1).map(sent)).toEqual([['a', '@1001', 'c', '@1001']])
  })
})
