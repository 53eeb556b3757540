import { beforeEach, describe, expect, it } from 'vitest'
import { LeaseLostError } from '../../../../src/indexing/writer/writer-errors.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { FIRST_WRITE_TIMESTAMP } from '../../../support/stores/memory-order-index.ts'
import { createWatchSimulation, type WatchSimulation } from './watch-simulation.ts'

const order = (id: string, version = 1) => JSON.stringify(sourceOrder({ id, version }))

let watching: WatchSimulation
beforeEach(() => {
  watching = createWatchSimulation()
})

/** Starts, and waits until every added entry is processed. */
async function run(...orders: (string | undefined)[]): Promise<void> {
  for (const bytes of orders) watching.stream.add(bytes)
  watching.begin()
  await watching.settled()
}

describe('watch', () => {
  it('the watch acknowledges an entry once it is written', async () => {
    await run(order('ord_1'), order('ord_2'))
    expect(watching.stream.operations).toEqual(['write ord_1', 'write ord_2', 'ack 1', 'ack 2'])
  })

  it('the watch dates the first version of an order with the write timestamp', async () => {
    await run(order('ord_1'))
    expect(watching.index.document('acc_1', 'ord_1')?.updatedKey).toBe(FIRST_WRITE_TIMESTAMP)
  })

  it('the watch dates events with the clock of the index, which limits a fast one', async () => {
    watching.index.subscribed.add('acc_1')
    watching.index.now = () => 5_000
    await run(order('ord_1'))
    expect(watching.index.events).toMatchObject([{ recordedAt: 5_000 }])
  })

  it('the watch counts the results of the entries', async () => {
    await run(order('ord_1'), order('ord_1'), order('ord_1', 2))
    expect(watching.log).toContain('written 1, unchanged 1, older 1')
  })

  it('the watch acknowledges an older version without writing it', async () => {
    await run(order('ord_1', 2), order('ord_1', 1))
    expect(watching.stream.operations).toEqual(['write ord_1', 'ack 1', 'ack 2'])
  })

  it.each([
    ['that is not JSON', '{"half', 'expected one JSON object on one line; this is not JSON'],
    ['that is blank', ' \r\n', 'expected one JSON object; this is blank'],
    ['without an order', undefined, 'expected one source order: this entry has none, or several'],
  ])(
    'the watch dead-letters an entry %s, reports it, and continues',
    async (_name, bytes, reason) => {
      await run(bytes, order('ord_2'))
      expect(watching.stream.operations).toEqual(['write ord_2', 'ack 2', 'dead-letter 1'])
      expect(watching.stream.deadLetters).toMatchObject([{ id: '1', error: { path: '', reason } }])
      expect(watching.log).toContain(`rejected 1 : ${reason}`)
    },
  )

  it('the watch dead-letters a change that conflicts with the index', async () => {
    const stolen = JSON.stringify(sourceOrder({ version: 2, owner_account_id: 'acc_thief' }))
    await run(order('ord_1'), stolen)
    expect(watching.stream.deadLetters).toMatchObject([{ error: { path: '/owner_account_id' } }])
  })

  it('the watch trims the stream periodically', async () => {
    const calls: string[] = []
    watching.stream.before = (call) => calls.push(call)
    await run(order('ord_1'))
    expect(calls).not.toContain('trim')
    watching.nowMs += 5_000
    await expect.poll(() => calls).toContain('trim')
  })
})

describe('the pending entries of another consumer', () => {
  it('the watch claims pending entries at its start', async () => {
    watching.stream.add(order('ord_1'))
    watching.stream.deliverElsewhere(1)
    await run()
    expect(watching.stream.operations).toContain('write ord_1')
  })

  it('the watch claims pending entries whenever the stream is idle', async () => {
    await run(order('ord_1'))
    watching.stream.add(order('ord_2'))
    watching.stream.deliverElsewhere(1)
    await watching.settled()
    expect(watching.stream.operations).toContain('write ord_2')
  })

  it('the watch claims pending entries every few seconds while the stream is never idle', async () => {
    let readings = 0
    watching.stream.before = (call) => {
      if (call !== 'read' || ++readings > 20) return
      watching.nowMs += 1_000
      if (readings === 2) {
        watching.stream.add(order('ord_taken'))
        watching.stream.deliverElsewhere(1)
      }
      watching.stream.add(order(`ord_more_${readings}`))
    }
    await run(order('ord_1'))
    const { operations } = watching.stream
    expect(operations).toContain('write ord_taken')
    expect(operations.indexOf('write ord_taken')).toBeLessThan(
      operations.indexOf('write ord_more_20'),
    )
  })

  it('the watch reports deleted pending entries as lost and acknowledges them', async () => {
    watching.stream.lostOnClaim = ['7']
    watching.stream.lostOnRead = ['8', '9']
    await run(order('ord_1'))
    expect(watching.log).toEqual(expect.arrayContaining(['lost 7', 'lost 8,9']))
    expect(watching.stream.operations).toEqual(['ack 8', 'ack 9', 'write ord_1', 'ack 1'])
  })

  it('the watch reports a deleted entry once when the store and the stream fail', async () => {
    watching.stream.deletePending(watching.stream.add(order('ord_1')))
    watching.failures.push(new Unavailable('no response from the store'))
    let failures = 1
    watching.stream.before = (call) => {
      if (call === 'acknowledge' && failures-- > 0) throw new Unavailable('no response from Redis')
    }
    await run(order('ord_2'))
    expect(watching.log.filter((line) => line.startsWith('lost'))).toEqual(['lost 1'])
  })

  it('a written entry that is deleted before its acknowledgement is not lost', async () => {
    const id = watching.stream.add(order('ord_1'))
    let failures = 1
    watching.stream.before = (call) => {
      if (call !== 'acknowledge' || failures-- <= 0) return
      watching.stream.deletePending(id)
      watching.stream.lostOnClaim.push(id)
      throw new Unavailable('no response from Redis')
    }
    await run()
    await expect.poll(() => watching.log).toContain('recovered')
    expect(watching.log.filter((line) => /^(lost|written)/.test(line))).toEqual(['written 1'])
  })
})

describe('the lag of a batch', () => {
  it('the watch passes the stream entry time of each written entry with the last write', async () => {
    watching.stream.ageMs = 200
    await run(order('ord_1'), '{}', order('ord_2'))
    const last = { accountId: 'acc_1', writeTimestamp: FIRST_WRITE_TIMESTAMP }
    expect(watching.lags).toEqual([[last, [49_800, 49_800]]])
  })

  it('the watch passes no entry times when nothing was written', async () => {
    await run(order('ord_1'))
    watching.stream.add(order('ord_1'))
    await watching.settled()
    expect(watching.lags).toHaveLength(1)
  })
})

describe('an unavailable store', () => {
  const away = () => new Unavailable('no response from the store')

  it('the watch reports an outage of the store once, then its end, and loses nothing', async () => {
    watching.failures.push(away(), away(), away())
    await run(order('ord_1'))
    await expect.poll(() => watching.log).toContain('recovered')
    expect(watching.log).toEqual([
      'writer',
      'outage: no response from the store',
      'written 1',
      'recovered',
    ])
  })

  it('the watch waits for a store that is unavailable at its start', async () => {
    watching.openings.push(() => Promise.reject(away()))
    await run(order('ord_1'))
    expect(watching.log.slice(0, 2)).toEqual(['outage: no response from the store', 'writer'])
  })

  it('the watch reports an outage once, even when the writer repeats the error', async () => {
    await run(order('ord_1'))
    for (let times = 0; times < 3; times++) watching.delay('no room')
    watching.stream.add(order('ord_2'))
    await watching.settled()
    expect(watching.log.filter((line) => line.startsWith('outage'))).toEqual(['outage: no room'])
  })
})

describe('an unavailable stream', () => {
  it.each(['claim', 'read', 'dead-letter', 'acknowledge', 'trim'])(
    'the watch retries when the stream is unavailable during %s, and loses nothing',
    async (failing) => {
      watching.nowMs = 50_000
      let failures = 2
      watching.stream.before = (call) => {
        watching.nowMs += 1_000
        if (call === failing && failures-- > 0) throw new Unavailable('no response from Redis')
      }
      await run(order('ord_1'), '{}')
      await expect.poll(() => watching.log).toContain('recovered')
      expect(watching.log).toContain('outage: no response from Redis')
      expect(watching.index.keys()).toEqual(['acc_1:ord_1'])
      expect(watching.stream.deadLetters).toHaveLength(1)
    },
  )

  it.each(['dead-letter', 'acknowledge'])(
    'the watch reports each change once when the stream is unavailable during %s',
    async (failing) => {
      let failures = 2
      watching.stream.before = (call) => {
        if (call === failing && failures-- > 0) throw new Unavailable('no response from Redis')
      }
      await run(order('ord_1'), '{"half')
      await expect.poll(() => watching.log).toContain('recovered')
      watching.stream.add(order('ord_1'))
      await watching.settled()
      expect(watching.log.filter((line) => !/^(outage|recovered)/.test(line))).toEqual([
        'writer',
        'rejected 2 : expected one JSON object on one line; this is not JSON',
        'written 1, refused 1',
        'older 1',
      ])
    },
  )
})

describe('a lost lease', () => {
  it('the watch becomes a standby after it lost its lease, and writes again later', async () => {
    watching.failures.push(new LeaseLostError())
    watching.openings.push(
      async () => {},
      async ({ onDelay }) => onDelay('another one writes'),
    )
    await run(order('ord_1'))
    expect(watching.log).toEqual([
      'writer',
      'lease lost',
      'no writer',
      'closed',
      'stands by: another one writes',
      'writer',
      'written 1',
    ])
  })

  it('the watch survives the loss of its lease while it acquires it', async () => {
    watching.openings.push(() => Promise.reject(new LeaseLostError()))
    await run(order('ord_1'))
    expect(watching.log).toEqual(['lease lost', 'writer', 'written 1'])
  })
})

describe('any other failure', () => {
  it('the watch ends on any other failure after it closed the index', async () => {
    watching.failures.push(new RangeError('a fault of ours'))
    watching.stream.add(order('ord_1'))
    watching.begin()
    expect(await watching.ended()).toEqual(new RangeError('a fault of ours'))
    expect(watching.log).toEqual(['writer', 'no writer', 'closed'])
    expect(watching.stream.waiting()).toEqual(['1'])
  })
})

describe('the stop of a watch', () => {
  it('the watch finishes the running batch and closes on abort', async () => {
    watching.stream.before = (call) => {
      if (call === 'read') watching.stop()
    }
    for (const id of ['ord_1', 'ord_2', 'ord_3', 'ord_4']) watching.stream.add(order(id))
    watching.begin()
    expect(await watching.ended()).toBeUndefined()
    expect(watching.stream.waiting()).toEqual(['4'])
    expect(watching.log).toEqual(['writer', 'written 3', 'no writer', 'closed'])
  })

  it('the standby ends on abort', async () => {
    watching.openings.push(({ signal }) => {
      watching.stop()
      return Promise.reject(new Error(`interrupted: ${signal.aborted}`))
    })
    watching.begin()
    expect(await watching.ended()).toBeUndefined()
  })

  it('the watch ends on abort while it waits for a store', async () => {
    watching.stream.add(order('ord_1'))
    watching.failures.push(new Unavailable('no response'))
    watching.begin()
    await expect.poll(() => watching.log).toContain('outage: no response')
    watching.stop()
    expect(await watching.ended()).toBeUndefined()
    expect(watching.stream.waiting()).toEqual(['1'])
  })
})
