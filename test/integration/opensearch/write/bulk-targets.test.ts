import { describe, expect, it } from 'vitest'
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
import type { Behaviour } from '../scripted/scripted-server.ts'

/** A sender of a writer that feeds two indices, of which the second version is read. */
const start = (...behaviours: Behaviour[]) =>
  startBulkSender(['orders-v2', 'orders-v1'], ...behaviours)

describe('a bulk for several indices', () => {
  it('goes to every index at one stamp, and last to the one that is read', async () => {
    const { send, states, received } = await start(acceptAll)
    states.recordState('orders', 'b', { if_seq_no: 6, if_primary_term: 2 })
    await send('orders', [put('a'), remove('b')])
    const [other, read] = received
    expect([other?.path, read?.path]).toEqual([
      '/orders-w-3-v1/_bulk?require_alias=true&filter_path=items.*.status%2Citems.*.error',
      '/orders-w-3-v2/_bulk?require_alias=true&filter_path=items.*.status%2Citems.*.error',
    ])
    const unseen = { version: FIRST_STAMP, version_type: 'external' }
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
    // What was seen is what is read: of the other index only the stamps are known.
    expect(received.flatMap(actionsOf)).toEqual([
      { name: 'index', _id: 'a', ...unseen },
      { name: 'index', _id: 'b', ...unseen },
      { name: 'index', _id: 'a', ...unseen },
      { name: 'index', _id: 'b', if_seq_no: 6, if_primary_term: 2 },
    ])
  })

  it('of heads goes to their one index', async () => {
    const { send, received } = await start(acceptAll)
    await send('heads', [put('a')])
    expect(received.map(({ path }) => path)).toEqual([
      '/order-heads-w-3-v1/_bulk?require_alias=true&filter_path=items.*.status%2Citems.*.error',
    ])
  })

  it('that one index turned away goes to all of them again, with a new stamp', async () => {
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

  it('is not sent to the index that is read where another turned it away', async () => {
    const full = items(failed('a', 429, 'rejected_execution_exception'), written('b'))
    const { send, received } = await start(full, acceptAll)
    await send('orders', [put('a'), put('b')])
    expect(received.slice(0, 2).map(sent)).toEqual([
      ['a', '@1000', 'b', '@1000'],
      ['b', '@1000'],
    ])
  })
})
