import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { createOpenSearchInspection } from '../../../../src/stores/opensearch/inspection/inspection.ts'
import { collect } from '../../../support/orders/collect.ts'
import {
  GENEROUS_MS,
  names,
  thrownBy,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import { type Behaviour, respond } from '../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

async function start(...behaviours: Behaviour[]) {
  const { url, received } = await serve(...behaviours)
  const { client } = connect([url])
  return {
    inspection: createOpenSearchInspection({ client, names, deadlineMs: GENEROUS_MS }),
    received,
  }
}

const keys = [
  { accountId: 'acc_1', orderId: 'ord_1' },
  { accountId: 'acc_2', orderId: 'ord_1' },
]
const state = { _seq_no: 6, _primary_term: 2 }
const found = {
  _id: 'acc_1:ord_1',
  found: true,
  ...state,
  _source: { id: 'ord_1', order: { id: 'ord_1' } },
}

describe('the document lookup', () => {
  it('the lookup returns existing documents from the shard of their account', async () => {
    const { inspection, received } = await start(
      respond(200, { docs: [found, { _id: 'acc_2:ord_1', found: false }] }),
    )
    expect(await inspection.documents(keys)).toEqual([
      { address: keys[0], keys: { id: 'ord_1' }, order: { id: 'ord_1' } },
    ])
    expect(received[0]?.path).toBe('/orders/_mget?preference=_primary')
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      docs: [
        { _id: 'acc_1:ord_1', routing: 'acc_1' },
        { _id: 'acc_2:ord_1', routing: 'acc_2' },
      ],
    })
  })

  it('an existence lookup returns documents without their source', async () => {
    const { inspection, received } = await start(
      respond(200, {
        docs: [
          { ...found, _source: undefined },
          { _id: 'acc_2:ord_1', found: false },
        ],
      }),
    )
    expect(await inspection.existingKeys(keys)).toEqual([keys[0]])
    expect(received[0]?.path).toBe('/orders/_mget?_source=removed_key&preference=_primary')
  })

  it('a lookup of no keys sends no request', async () => {
    const { inspection, received } = await start(respond(200, {}))
    expect(await inspection.documents([])).toEqual([])
    expect(received).toEqual([])
  })

  it.each<[string, object]>([
    ['omits a document', { docs: [found] }],
    ['has an error for a document', { docs: [found, { _id: 'acc_2:ord_1', error: {} }] }],
    ['is empty', {}],
  ])('a lookup is unavailable when the response %s', async (_where, body) => {
    const { inspection } = await start(respond(200, body))
    expect(await thrownBy(inspection.documents(keys))).toBeInstanceOf(Unavailable)
  })

  it('a lookup without a shard copy reports the reason of OpenSearch', async () => {
    const error = { type: 'no_shard_available_action_exception', reason: 'No shard available' }
    const { inspection } = await start(
      respond(200, { docs: [found, { _id: 'acc_2:ord_1', error }] }),
    )
    expect(await thrownBy(inspection.documents(keys))).toEqual(
      new Unavailable('OpenSearch could not read a document of orders: No shard available'),
    )
  })
})

describe('a scan', () => {
  const whole = { timed_out: false, _shards: { total: 1, successful: 1, failed: 0 } }
  const aliases = respond(200, { 'orders-v1': { aliases: { orders: {} } } })
  const refreshed = respond(200, { _shards: whole._shards })
  const empty = respond(200, { ...whole, hits: { hits: [] } })

  it.each<[string, object]>([
    ['that timed out', { ...whole, timed_out: true, hits: { hits: [] } }],
    [
      'with a failed shard',
      { ...whole, _shards: { total: 1, successful: 0, failed: 1 }, hits: {} },
    ],
    ['without hits', whole],
    ['with a hit that has no id', { ...whole, hits: { hits: [{ _source: {} }] } }],
  ])('a scan fails on a response %s', async (_what, body) => {
    const { inspection } = await start(aliases, refreshed, respond(200, body))
    expect(await thrownBy(collect(inspection.scanDocuments()))).toBeInstanceOf(Unavailable)
  })

  it('a scan sizes its pages by the checksum headers to a few megabytes', async () => {
    const THREE_MEGABYTES = '00000000-0015-00300000'
    const ids = ['acc_1:ord_1', 'acc_1:ord_2', 'acc_1:ord_3']
    const hits = ids.map((_id) => ({ _id, _routing: 'acc_1', _source: { frame: THREE_MEGABYTES } }))
    const page = respond(200, { ...whole, hits: { hits } })
    const one = (_id: string) => respond(200, { docs: [{ _id, found: false }] })
    const { inspection, received } = await start(aliases, refreshed, page, ...ids.map(one), empty)
    await collect(inspection.scanDocuments())
    const read = received.filter(({ path }) => path.includes('_mget'))
    expect(read.map(({ body }) => JSON.parse(body))).toEqual(
      ids.map((_id) => ({ docs: [{ _id, routing: 'acc_1' }] })),
    )
  })
})
