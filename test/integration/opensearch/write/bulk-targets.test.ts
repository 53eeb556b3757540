import { describe, expect, it } from 'vitest'
import { StaleReadError } from '../../../../src/stores/opensearch/write/written-states.ts'
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
import { type Behaviour, respond } from '../../../support/stores/scripted/scripted-server.ts'

const startBulkSender = useBulkSenders()

/** The bulk sender of a writer with two targets; version 2 is live. */
const start = (...behaviours: Behaviour[]) =>
  startBulkSender(['orders-v2', 'orders-v1'], ...behaviours)

describe('a bulk for several indices', () => {
  it('a bulk uses one write timestamp for every target and writes the live index last', async () => {
    const { send, received } = await start(acceptAll)
    await send('orders', [put('a'), remove('b')])
    const [other, read] = received
    expect([other?.path, read?.path]).toEqual([
      `/orders-w-3-v1/_bulk?${QUERY}`,
      `/orders-w-3-v2/_bulk?${QUERY}`,
    ])
    const earlierOnly = { version: FIRST_WRITE_TIMESTAMP, version_type: 'external' }
    expect(received.flatMap(sent)).toEqual([
      'a',
      '@1000',
      'b',
      '@-1000',
      'a',
      '@1000',
      'b',
      '@-1000',
    ])
    const actions = ['a', 'b'].map((_id) => ({ name: 'index', _id, ...earlierOnly }))
    expect(received.map(actionsOf)).toEqual([actions, actions])
  })

  it('a bulk of version records goes to its single index', async () => {
    const { send, received } = await start(acceptAll)
    await send('versionRecords', [put('a')])
    expect(received.map(({ path }) => path)).toEqual([`/order-heads-w-3-v1/_bulk?${QUERY}`])
  })

  const record = (seqNo?: number) =>
    respond(200, {
      docs: [
        seqNo === undefined
          ? { _id: 'a', found: false }
          : { _id: 'a', found: true, _seq_no: seqNo, _primary_term: 1, _source: {} },
      ],
    })
  const conflict = items(failed('a', 409, 'version_conflict_engine_exception'))

  it('version records reach every index of a reindex, the one that is read last, each by the state that it has now', async () => {
    const { send, received, recordTargets, states } = await start(
      record(),
      conflict, // A copy of the reindex arrived in between.
      record(4),
      acceptAll,
      record(7),
      acceptAll,
    )
    states.recordState('versionRecords', 'a', { if_seq_no: 1, if_primary_term: 1 })
    recordTargets.push('order-heads-v1', 'order-heads-v2')
    await send('versionRecords', [put('a')])
    const bulks = received.filter(({ path }) => path.includes('_bulk'))
    expect(bulks.map(({ path }) => path.slice(0, 19))).toEqual([
      '/order-heads-w-3-v2',
      '/order-heads-w-3-v2',
      '/order-heads-w-3-v1',
    ])
    expect(bulks.flatMap(actionsOf)).toEqual([
      { name: 'create', _id: 'a' },
      { name: 'index', _id: 'a', if_seq_no: 4, if_primary_term: 1 },
      { name: 'index', _id: 'a', if_seq_no: 7, if_primary_term: 1 },
    ])
  })

  it('the states of version records are kept for the index that is read, and for no other', async () => {
    const accepted = items({ index: { _id: 'a', status: 200, _seq_no: 8, _primary_term: 1 } })
    const { send, known, recordTargets } = await start(record(4), accepted, record(7), accepted)
    recordTargets.push('order-heads-v1', 'order-heads-v2')
    await send('versionRecords', [put('a')])
    const outdated = { if_seq_no: 7, if_primary_term: 1 }
    expect(() => known.assertCurrent('order-heads-v1', 'a', outdated)).toThrow(StaleReadError)
    expect(() => known.assertCurrent('order-heads-v2', 'a', outdated)).not.toThrow()
  })

  it('version records also reach an index that a fence adds while they are sent', async () => {
    const addsIndex: Behaviour = (response, request) => {
      recordTargets.push('order-heads-v2')
      acceptAll(response, request)
    }
    const { send, received, recordTargets } = await start(addsIndex, record(), acceptAll)
    recordTargets.push('order-heads-v1')
    await send('versionRecords', [put('a')])
    expect(received.map(({ path }) => path.split('?')[0])).toEqual([
      '/order-heads-w-3-v1/_bulk',
      '/order-heads-v2/_mget',
      '/order-heads-w-3-v2/_bulk',
    ])
  })

  it('a bulk rejected by one target is sent to all targets again with a new write timestamp', async () => {
    const full = failed('a', 429, 'rejected_execution_exception')
    const [toOther, toRead] = [items(written('a'), written('b')), items(full, written('b'))]
    const { send, received } = await startBulkSender(
      ['orders-v2', 'orders-v1'],
      toOther,
      toRead,
      acceptAll,
    )
    await send('orders', [put('a'), put('b')])
    expect(received.map(sent)).toEqual([
      ['a', '@1000', 'b', '@1000'],
      ['a', '@1000', 'b', '@1000'],
      ['a', '@1001'],
      ['a', '@1001'],
    ])
  })

  it('a bulk that one shard of another target rejects reaches no live index before all of it is accepted', async () => {
    const full = items(failed('a', 429, 'rejected_execution_exception'), written('b'))
    const { send, received } = await start(full, acceptAll)
    await send('orders', [put('a'), put('b')])
    expect(received.map(({ path }) => path.slice(0, 14))).toEqual([
      '/orders-w-3-v1',
      '/orders-w-3-v1',
      '/orders-w-3-v2',
    ])
    expect(received.map(sent)).toEqual([
      ['a', '@1000', 'b', '@1000'],
      ['a', '@1001', 'b', '@1001'],
      ['a', '@1001', 'b', '@1001'],
    ])
  })
})
