import { describe, expect, it } from 'vitest'
import { DocumentRejectedError } from '../../../../src/indexing/writer/order-index.ts'
import { Unavailable } from '../../../../src/lib/unavailable.ts'
import {
  FIRST_STAMP,
  failed,
  items,
  put,
  remove,
  sent,
  startBulkSender,
  written,
} from '../scripted/scripted-bulk-sender.ts'
import { acceptAll, actionsOf } from '../scripted/scripted-cluster.ts'
import { thrownBy } from '../scripted/scripted-nodes.ts'
import { type Behaviour, respond, respondError } from '../scripted/scripted-server.ts'

const EIGHT_MIB = 8 * 1024 * 1024

/** A sender of a writer that feeds one index. */
const start = (...behaviours: Behaviour[]) => startBulkSender(['orders-v1'], ...behaviours)

describe('a bulk', () => {
  it('goes to the alias of its epoch and no index, marked with it', async () => {
    const { send, received } = await start(acceptAll)
    await send('orders', [put('a')])
    await send('heads', [put('a')])
    const [orders, heads] = received
    expect([orders?.path, heads?.path]).toEqual([
      '/orders-w-3-v1/_bulk?require_alias=true&filter_path=items.*.status%2Citems.*.error',
      '/order-heads-w-3-v1/_bulk?require_alias=true&filter_path=items.*.status%2Citems.*.error',
    ])
    expect([orders, heads].map((one) => one?.headers['x-opaque-id'])).toEqual([
      'orders-w-3',
      'orders-w-3',
    ])
  })

  it('of orders carries a stamp of its own, and one of heads takes none', async () => {
    const { send, received } = await start(acceptAll)
    await send('orders', [put('a'), put('b')])
    await send('heads', [put('a')])
    await send('orders', [put('c')])
    expect(received.map(sent)).toEqual([
      ['a', '@1000', 'b', '@1000'],
      ['a', '@0'],
      ['c', '@1001'],
    ])
  })

  it('tells the document that was written last, by account and stamp', async () => {
    const { send, lastWrite } = await start(acceptAll)
    expect(lastWrite()).toBeNull()
    const address = { _id: 'a', routing: 'acc_1' }
    await send('orders', [{ ...put('a'), address }, remove('b')])
    await send('heads', [put('a')])
    expect(lastWrite()).toEqual({ accountId: 'acc_1', writeTimestamp: FIRST_STAMP })
  })

  it('of nothing is not sent', async () => {
    const { send, received } = await start(acceptAll)
    await send('orders', [])
    expect(received).toEqual([])
  })

  it('leaves a tombstone with its stamp in the place of what it removes', async () => {
    const { send, received } = await start(acceptAll)
    await send('orders', [remove('a')])
    expect(received.flatMap(sent)).toEqual(['a', `@-${FIRST_STAMP}`])
  })
})

describe('an item', () => {
  const SEEN = { if_seq_no: 6, if_primary_term: 2 }

  it('replaces or removes its document just as it was seen', async () => {
    const { send, states, received } = await start(acceptAll)
    states.recordState('orders', 'a', SEEN)
    states.recordState('orders', 'b', { ...SEEN, if_seq_no: 7 })
    const routing = 'acc_1'
    const source = () => '{}'
    await send('orders', [{ orderId: 'a', address: { _id: 'a', routing }, source }, remove('b')])
    expect(received.flatMap(actionsOf)).toEqual([
      { name: 'index', _id: 'a', routing, ...SEEN },
      { name: 'index', _id: 'b', if_seq_no: 7, if_primary_term: 2 },
    ])
  })

  it('makes the document that was not there', async () => {
    const { send, states, received } = await start(acceptAll)
    states.recordState('orders', 'a', null)
    await send('orders', [put('a')])
    const version = { version: FIRST_STAMP, version_type: 'external' }
    expect(received.flatMap(actionsOf)).toEqual([{ name: 'index', _id: 'a', ...version }])
  })

  it('expects of a document nothing of another one with its id elsewhere', async () => {
    const { send, states, received } = await start(acceptAll)
    states.recordState('heads', 'a', SEEN)
    await send('orders', [put('a')])
    const version = { version: FIRST_STAMP, version_type: 'external' }
    expect(received.flatMap(actionsOf)).toEqual([{ name: 'index', _id: 'a', ...version }])
  })

  it('makes anew what the item before it removed', async () => {
    const { send, states, received } = await start(acceptAll)
    states.recordState('orders', 'a', SEEN)
    await send('orders', [remove('a')])
    await send('orders', [put('a')])
    expect(received.flatMap(sent)).toEqual(['a', '@-1000', 'a', '@1001'])
  })

  it('expects what it did before when it is sent again', async () => {
    const { send, states, received } = await start(
      items({ index: { _id: 'a', status: 429, error: { type: 'rejected', reason: 'full' } } }),
      acceptAll,
    )
    states.recordState('orders', 'a', SEEN)
    await send('orders', [put('a')])
    const action = { name: 'index', _id: 'a', ...SEEN }
    expect(received.map(actionsOf)).toEqual([[action], [action]])
  })
})

describe('what OpenSearch has no room for', () => {
  it('is sent again, alone and with a new stamp', async () => {
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

  it('is not sent again as a whole when it was refused as a whole', async () => {
    const { send, received } = await start(respondError(429, 'circuit_breaking_exception'))
    expect(await thrownBy(send('orders', [put('a')]))).toBeInstanceOf(Unavailable)
    expect(received).toHaveLength(1)
  })
})

describe('a bulk is of unknown outcome', () => {
  it.each([
    ['when the alias of its epoch is gone', items(failed('a', 404, 'index_not_found_exception'))],
    ['when the index is closed', items(failed('a', 400, 'index_closed_exception'))],
    ['when the index takes no writes', items(failed('a', 403, 'cluster_block_exception'))],
    ['when a node failed', items(failed('a', 500, 'engine_exception'))],
    ['when a copy was missing', items(failed('a', 503, 'unavailable_shards_exception'))],
    ['when a document changed', items(failed('a', 409, 'version_conflict_engine_exception'))],
    ['when less is told than was sent', items()],
    ['when more is told than was sent', items(written('a'), written('b'))],
    ['when nothing is told', respond(200, { took: 1 })],
    ['when an item is told without its status', items({})],
    ['when the disk is full', items(failed('a', 429, 'cluster_block_exception'))],
  ])('%s', async (_when, behaviour) => {
    const { send, received } = await start(behaviour)
    expect(await thrownBy(send('orders', [put('a')]))).toBeInstanceOf(Unavailable)
    expect(received).toHaveLength(1)
  })
})

describe('a document that is refused', () => {
  it('is named with its order, and no fault of OpenSearch', async () => {
    const type = 'mapper_parsing_exception'
    const { send, received } = await start(items(written('a'), failed('b', 400, type)))
    const error = await thrownBy(send('orders', [put('a'), put('b')]))
    expect(error).toBeInstanceOf(DocumentRejectedError)
    expect(error).toMatchObject({ orderId: 'b' })
    expect(String(error)).toContain(`b: 400 ${type}: why ${type}`)
    expect(received).toHaveLength(1)
  })

  it('for a field that the index lacks is no fault of its order, and does not pass', async () => {
    const { send } = await start(items(failed('a', 400, 'strict_dynamic_mapping_exception')))
    const error = await thrownBy(send('orders', [put('a')]))
    expect(error).not.toBeInstanceOf(Unavailable)
    expect(error).not.toBeInstanceOf(DocumentRejectedError)
    expect(String(error)).toContain('run "index init", which adds it')
  })
})

describe('a bulk that is too large for one request', () => {
  const third = 'x'.repeat(EIGHT_MIB / 3)

  it('is sent in several, in its order and each with a later stamp', async () => {
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

  it('is sent at most to its limit, an item that is larger alone', async () => {
    const { send, received } = await start(acceptAll)
    await send('orders', [put('a'), put('b', third.repeat(4)), put('c')])
    expect(received.map(sent)).toEqual([
      ['a', '@1000'],
      ['b', '@1001'],
      ['c', '@1002'],
    ])
  })

  it('sends what there was no room for before what is left', async () => {
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
