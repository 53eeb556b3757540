import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { BulkWrites, OrderIndex } from '../../../../src/indexing/writer/order-index.ts'
import { LeaseLostError } from '../../../../src/indexing/writer/writer-errors.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import type { ViewKey } from '../../../../src/orders/order-store.ts'
import { toVersionRecordSource } from '../../../../src/stores/opensearch/version-record-document.ts'
import { openOpenSearchOrderIndex } from '../../../../src/stores/opensearch/write/order-index.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { versionRecord } from '../../../support/orders/version-record.ts'
import { writeBulk } from '../../../support/stores/bulk.ts'
import {
  acceptAll,
  actionsOf,
  createScriptedCluster,
  NOON,
} from '../../../support/stores/scripted/scripted-cluster.ts'
import {
  GENEROUS_MS,
  names,
  thrownBy,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import {
  type Behaviour,
  type ReceivedRequest,
  reset,
  respond,
  respondError,
} from '../../../support/stores/scripted/scripted-server.ts'

const GIVE_UP_MS = 3_600_000
/** Several renewals of a short lease. */
const SLOW_MS = 200

const { serve, connect } = useScriptedNodes()
const opened: OrderIndex[] = []
let failsRefresh: boolean
/** The clock of the writer. */
let nowMs: number
/** The next reads by id; those after find no document. */
let reads: Behaviour[]
beforeEach(() => {
  reads = []
  failsRefresh = false
  nowMs = NOON
})
afterEach(async () => {
  vi.restoreAllMocks()
  for (const index of opened.splice(0)) await index.close()
})

const failSlowly: Behaviour = (response, request) => {
  setTimeout(() => respondError(503, 'unavailable_shards_exception')(response, request), SLOW_MS)
}

/** A writer on a cluster with scripted bulks; the requests of its start are dropped. */
const open = (...bulks: Behaviour[]) => openWithLease(60_000, ...bulks)

async function openWithLease(leaseMs: number, ...bulks: Behaviour[]) {
  const cluster = createScriptedCluster(bulks)
  const { url, received } = await serve((response, request) => {
    const isFailing = failsRefresh && request.path.includes('_refresh')
    const failing = isFailing ? failSlowly : undefined
    const read = request.path.includes('/_mget') ? reads.shift() : undefined
    const behave = failing ?? read ?? cluster.behaviour
    behave(response, request)
  })
  const delays: string[] = []
  const index = await openOpenSearchOrderIndex({
    client: connect([url]).client,
    names,
    subscribers: async () => new Set(),
    ensureIndices: { async orders() {} },
    leaseMs,
    purpose: 'load',
    deadlineMs: GENEROUS_MS,
    clock: () => nowMs,
    onDelay: (reason) => delays.push(reason),
  })
  opened.push(index)
  cluster.events.length = 0
  const bulkActions = () => received.filter(({ path }) => path.includes('_bulk')).map(actionsOf)
  return { ...cluster, index, received, delays, bulkActions }
}

const NOTHING: BulkWrites = { views: [], removals: [], eventRecords: [], versionRecords: [] }

function put(orderId: string): BulkWrites {
  const change = changeOf(sourceOrder({ id: orderId }))
  const views = change.views.map((view) => ({
    ...view,
    orderId,
    updatedAt: 'write-timestamp' as const,
  }))
  return { ...NOTHING, views }
}
const recordOf = (orderId: string) => versionRecord({ orderId, accountIds: [] })
const key = (orderId: string): ViewKey => ({ accountId: 'acc_1', orderId })

describe('a bulk', () => {
  it('a bulk writes documents, then version records, and sends no empty request', async () => {
    const { index, events } = await open()
    await writeBulk(index, () => ({
      ...put('ord_2'),
      removals: [key('ord_3')],
      versionRecords: [recordOf('ord_4')],
    }))
    await writeBulk(index, () => NOTHING)
    expect(events).toEqual([
      'orders-w-1-v1: acc_1:ord_2 @0 acc_1:ord_3 @-0',
      'order-heads-w-1-v1: ord_4',
    ])
  })

  it('a bulk reads documents again instead of reusing earlier state', async () => {
    const { index, bulkActions } = await open()
    for (let time = 0; time < 2; time++) await writeBulk(index, () => put('ord_1'))
    const unseen = { version_type: 'external' }
    expect(bulkActions().flat()).toMatchObject([unseen, unseen])
  })

  it('the first live bulk records live mode in the lease before it is sent', async () => {
    const { index, received } = await open()
    await writeBulk(index, () => put('ord_1'), { mode: 'history' })
    await writeBulk(index, () => NOTHING, { mode: 'live' })
    expect(index.hasLiveWrites()).toBe(false)
    const before = received.length
    for (const id of ['ord_2', 'ord_3']) await writeBulk(index, () => put(id), { mode: 'live' })
    const kinds = received.slice(before).map(({ path, body }) => {
      if (path.includes('_bulk')) return 'bulk'
      return path.startsWith('/writer/_doc')
        ? `stamped live: ${JSON.parse(body).stamped_live}`
        : path
    })
    expect(kinds).toEqual(['stamped live: true', 'bulk', 'bulk'])
    expect(index.hasLiveWrites()).toBe(true)
  })

  const slow: Behaviour = (response, request) => {
    setTimeout(() => acceptAll(response, request), 50)
  }

  it('a bulk is decided during the previous one and sent after it', async () => {
    const { index, events } = await open(slow)
    const bulks = ['ord_1', 'ord_2', 'ord_3'].map((id) =>
      writeBulk(index, () => {
        events.push(`decides on ${id}`)
        return put(id)
      }),
    )
    await Promise.all(bulks)
    expect(events).toEqual([
      'decides on ord_1',
      'decides on ord_2',
      'decides on ord_3',
      'orders-w-1-v1: acc_1:ord_1 @0',
      'orders-w-1-v1: acc_1:ord_2 @1',
      'orders-w-1-v1: acc_1:ord_3 @2',
    ])
  })

  it('a bulk is decided after earlier bulks of the same orders, version records included', async () => {
    const { index, events } = await open(slow)
    const bulks = [['ord_1', 'ord_2'], ['ord_3'], ['ord_2', 'ord_3']].map((ids) =>
      writeBulk(
        index,
        async (reader) => {
          await reader.versionRecords(ids)
          events.push(`decides on ${ids}`)
          return { ...NOTHING, versionRecords: ids.map(recordOf) }
        },
        { orderIds: ids },
      ),
    )
    await Promise.all(bulks)
    expect(events.at(-2)).toBe('decides on ord_2,ord_3')
    expect(events.at(-1)).toBe('order-heads-w-1-v1: ord_2 ord_3')
  })

  it('the version records of a bulk are written while the next bulk is sent', async () => {
    let end = () => {}
    const held: Behaviour = (response, request) => {
      end = () => acceptAll(response, request)
    }
    const { index, events } = await open(acceptAll, held)
    const first = writeBulk(index, () => ({ ...put('ord_1'), versionRecords: [recordOf('ord_1')] }))
    await expect.poll(() => events).toContain('order-heads-w-1-v1: ord_1')
    await writeBulk(index, () => put('ord_2'))
    expect(events.at(-1)).toBe('orders-w-1-v1: acc_1:ord_2 @1')
    end()
    await first
  })

  it('a bulk whose decide fails writes nothing and does not block the next one', async () => {
    const { index, events } = await open()
    const failing = writeBulk(index, () => {
      throw new RangeError('a fault of ours')
    })
    await expect(failing).rejects.toThrow('a fault of ours')
    await writeBulk(index, () => put('ord_1'))
    expect(events).toEqual(['orders-w-1-v1: acc_1:ord_1 @0'])
  })
})

describe('a bulk of unknown outcome', () => {
  it('a bulk of unknown outcome is fenced, decided again and sent with a later write timestamp', async () => {
    const { index, events } = await open(reset)
    const decisions = [put('ord_1'), put('ord_2')]
    await writeBulk(index, () => decisions.shift() ?? NOTHING)
    expect(events).toEqual([
      'orders-w-1-v1: acc_1:ord_1 @0',
      'fence',
      'orders-w-2-v1: acc_1:ord_2 @1',
    ])
  })

  it('every bulk of unknown outcome raises a new fence', async () => {
    const { index, events } = await open(reset, respondError(503, 'cluster_block_exception'))
    await writeBulk(index, () => put('ord_1'))
    expect(events.filter((what) => what === 'fence')).toHaveLength(2)
    expect(events.at(-1)).toBe('orders-w-3-v1: acc_1:ord_1 @2')
  })

  it('a bulk with a version conflict is decided again', async () => {
    const error = { type: 'version_conflict_engine_exception', reason: 'x' }
    const { index, events } = await open(
      respond(200, { items: [{ create: { _id: 'acc_1:ord_1', status: 409, error } }] }),
    )
    const decisions = [put('ord_1'), put('ord_2')]
    await writeBulk(index, () => decisions.shift() ?? NOTHING)
    expect(events).toEqual([
      'orders-w-1-v1: acc_1:ord_1 @0',
      'fence',
      'orders-w-2-v1: acc_1:ord_2 @1',
    ])
  })

  it('a writer that lost its lease does not resend a bulk', async () => {
    const { index, events, takeOver } = await open((response, request) => {
      takeOver()
      reset(response, request)
    })
    expect(await thrownBy(writeBulk(index, () => put('ord_1')))).toBeInstanceOf(LeaseLostError)
    expect(events).toHaveLength(1)
  })

  it('an abandoned bulk is fenced before the next one is sent', async () => {
    const now = performance.now.bind(performance)
    const { index, events } = await open((response, request) => {
      vi.spyOn(performance, 'now').mockImplementation(() => now() + GIVE_UP_MS)
      reset(response, request)
    })
    await expect(writeBulk(index, () => put('ord_1'))).rejects.toThrow(Unavailable)
    vi.restoreAllMocks()
    await writeBulk(index, () => put('ord_2'))
    expect(events).toEqual([
      'orders-w-1-v1: acc_1:ord_1 @0',
      'fence',
      'orders-w-2-v1: acc_1:ord_2 @1',
    ])
  })

  it('a lock that is held for many bulks gives up late after the last one that was written', async () => {
    const now = performance.now.bind(performance)
    const later =
      (behave: Behaviour): Behaviour =>
      (response, request) => {
        vi.spyOn(performance, 'now').mockImplementation(() => now() + GIVE_UP_MS)
        behave(response, request)
      }
    const { index } = await open(later(acceptAll), later(reset))
    const lock = await index.lock([])
    const send = async (orderId: string) => (await lock.begin()).commit(put(orderId), 'live')
    try {
      expect(await send('ord_1')).toBe(true)
      vi.restoreAllMocks() // The lease has not expired.
      expect(await send('ord_2')).toBe(false)
    } finally {
      lock.release()
    }
  })

  it('fences that fail slowly do not queue up before the one that the bulk waits for', async () => {
    const { index, events } = await openWithLease(SLOW_MS / 2, reset)
    const fences = () => events.filter((what) => what === 'fence').length
    failsRefresh = true
    const failing = thrownBy(writeBulk(index, () => put('ord_1')))
    await expect.poll(fences, { timeout: 10_000 }).toBeGreaterThanOrEqual(6)
    const before = fences()
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + GIVE_UP_MS)
    expect(await failing).toBeInstanceOf(Unavailable)
    expect(fences() - before).toBeLessThanOrEqual(3)
    failsRefresh = false
  })

  it('a bulk whose second decide fails is fenced once before the next one', async () => {
    const { index, events } = await open(reset)
    const decisions = [put('ord_1')]
    const failing = writeBulk(index, () => {
      const decided = decisions.shift()
      if (decided === undefined) throw new RangeError('a fault of ours')
      return decided
    })
    await expect(failing).rejects.toThrow(RangeError)
    await writeBulk(index, () => put('ord_2'))
    expect(events).toEqual([
      'orders-w-1-v1: acc_1:ord_1 @0',
      'fence',
      'orders-w-2-v1: acc_1:ord_2 @1',
    ])
  })
})

describe('a read by id', () => {
  const RECORD = { _id: 'ord_1', found: true, _source: toVersionRecordSource(recordOf('ord_1')) }
  const found = (seqNo: number) =>
    respond(200, { docs: [{ ...RECORD, _seq_no: seqNo, _primary_term: 1 }] })
  const missing = respond(200, { docs: [{ _id: 'ord_1', found: false }] })
  const reason = 'no such index [order-heads-w-1-v1]'
  const unknownAlias = respond(200, {
    docs: [{ _id: 'ord_1', error: { type: 'index_not_found_exception', reason } }],
  })
  const acceptRecord = respond(200, {
    items: [{ create: { _id: 'ord_1', status: 201, _seq_no: 5, _primary_term: 1 } }],
  })
  const writeRecord = (index: OrderIndex) =>
    writeBulk(index, () => ({ ...NOTHING, versionRecords: [recordOf('ord_1')] }))
  const readRecord = (index: OrderIndex) =>
    writeBulk(index, async (reader) => {
      await reader.versionRecords(['ord_1'])
      return NOTHING
    })
  const readFrom = (received: readonly ReceivedRequest[]) =>
    received.flatMap(({ path }) => (path.includes('/_mget') ? [path.split('/')[1]] : []))

  it('a read goes through the alias of the current epoch', async () => {
    const { index, received } = await open()
    await readRecord(index)
    expect(readFrom(received)).toEqual(['order-heads-w-1-v1'])
  })

  it.each([
    ['lacks', missing],
    ['has an earlier state of', found(4)],
  ])(
    'a node that %s what this writer wrote is fenced off, and another is read',
    async (_how, read) => {
      const { index, events, received } = await open(acceptRecord)
      await writeRecord(index)
      reads = [read, found(5)]
      await readRecord(index)
      expect(events.filter((what) => what === 'fence')).toHaveLength(1)
      expect(readFrom(received)).toEqual(
        expect.arrayContaining(['order-heads-w-1-v1', 'order-heads-w-2-v1']),
      )
    },
  )

  it('a node that has an earlier state of a document of an order is fenced off too', async () => {
    const acceptDocument = respond(200, {
      items: [{ index: { _id: 'acc_1:ord_1', status: 201, _seq_no: 5, _primary_term: 1 } }],
    })
    const view = (seqNo: number) =>
      respond(200, {
        docs: [{ _id: 'acc_1:ord_1', found: true, _seq_no: seqNo, _primary_term: 1, _source: {} }],
      })
    const { index, received } = await open(acceptDocument)
    await writeBulk(index, () => put('ord_1'))
    reads = [view(4), view(5)]
    await writeBulk(index, async (reader) => {
      await reader.views([key('ord_1')])
      return NOTHING
    })
    expect(readFrom(received)).toEqual(expect.arrayContaining(['orders-w-1-v1', 'orders-w-2-v1']))
  })

  it('what this writer wrote is forgotten after a fence, which every node that responds knows', async () => {
    const { index, events } = await open(acceptRecord, reset)
    await writeRecord(index)
    await writeBulk(index, () => put('ord_2'))
    const fences = events.filter((what) => what === 'fence').length
    reads = [missing]
    await readRecord(index)
    expect(events.filter((what) => what === 'fence')).toHaveLength(fences)
  })

  it('a node without the alias is read again, and the third time the aliases are restored', async () => {
    const { index, events } = await open()
    reads = [unknownAlias, unknownAlias]
    await readRecord(index)
    expect(events).toEqual([])
    reads = [unknownAlias, unknownAlias, unknownAlias]
    await readRecord(index)
    expect(events).toEqual(['fence'])
  })

  it('a read that a fence overtook is repeated without a delay', async () => {
    const { index, events, delays, received } = await open(reset)
    let answer = () => {}
    const held: Behaviour = (response, request) => {
      answer = () => unknownAlias(response, request)
    }
    reads = [held]
    const reading = readRecord(index)
    await expect.poll(() => readFrom(received)).toHaveLength(1)
    await writeBulk(index, () => put('ord_2'))
    const before = delays.length
    answer()
    await reading
    expect(events.filter((what) => what === 'fence')).toHaveLength(1)
    expect(delays).toHaveLength(before)
  })

  it('a writer whose aliases are gone, and whose lease is lost, ends', async () => {
    const { index, takeOver } = await open()
    takeOver()
    reads = [unknownAlias, unknownAlias, unknownAlias]
    expect(await thrownBy(readRecord(index))).toBeInstanceOf(LeaseLostError)
  })
})

describe('a document that is rejected', () => {
  it('a rejected document is reported and not sent again', async () => {
    const error = { type: 'mapper_parsing_exception', reason: 'x' }
    const { index, events } = await open(
      respond(200, { items: [{ create: { _id: 'acc_1:ord_1', status: 400, error } }] }),
    )
    await expect(writeBulk(index, () => put('ord_1'))).rejects.toThrow('acc_1:ord_1')
    await writeBulk(index, () => put('ord_2'))
    expect(events.filter((what) => what.includes('ord_1'))).toHaveLength(1)
    expect(events.at(-1)).toMatch(/ord_2 @1$/)
  })
})

it('the clock of a writer that is fast has whole milliseconds, like every instant of an event', async () => {
  const { index } = await open()
  nowMs = NOON + 60_000
  const limited = index.now()
  expect(limited).toBeLessThan(nowMs)
  expect(Number.isInteger(limited)).toBe(true)
})

describe('a writer that ends', () => {
  it('a closing writer releases its lease after its last bulk', async () => {
    const { index, events, lease } = await open()
    const last = writeBulk(index, () => put('ord_1'))
    await index.close()
    await last
    expect(events).toEqual(['orders-w-1-v1: acc_1:ord_1 @0'])
    expect(lease()).toMatchObject({ released: true, stamp_ceiling: NOON })
  })

  it('a closing writer refreshes before it releases its lease', async () => {
    const { index, received } = await open()
    await index.close()
    const last = received.slice(-2).map(({ path }) => path.split('?')[0])
    expect(last).toEqual(['/orders/_refresh', '/writer/_doc/orders'])
  })

  it('a closing writer releases its lease even if the refresh fails', async () => {
    const { index, lease } = await open()
    failsRefresh = true
    await index.close()
    expect(lease()).toMatchObject({ released: true })
  })
})
